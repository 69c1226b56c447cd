import type { Telemetry, Track } from "../../schemas/telemetry.js";

/** When requests were in flight, µs on the client's clock; both arrays ascend. */
export interface ClientActivity {
  readonly sent_us: Float64Array;
  readonly end_us: Float64Array;
}

export interface ActivityOffset {
  /** To be added to the client's stamps, ms. */
  readonly offset_ms: number;
  readonly uncertainty_ms: number;
  /** Correlation of the client's and the server's activity at that offset, and without one. */
  readonly rho: number;
  readonly rho_unshifted: number;
}

const NEAR_US = 15e6;
const COARSE_US = 250_000;
const FINE_US = 20_000;
/** A whole quarter of an hour either way: stamps of another zone. */
const ZONE_US = 900e6;
const ZONES = 56;
const MIN_SAMPLES = 12;
const MIN_RHO = 0.6;
/** The best offset must beat every other one that is not its neighbour, and no offset at all, by this much. */
const MIN_LEAD = 0.05;

/**
 * Offset of a client's clock against telemetry when no request was seen from both sides: the number of requests in flight and the number
 * finished per interval, as the client's stamps give them, are correlated with the server's own gauges and counters over shifts of
 * ±15 s, and of whole quarter hours where the ranges do not overlap. Null when the load is flat, samples are few, or no shift stands out.
 */
export function estimateActivityOffset(client: ClientActivity, telemetry: Telemetry): ActivityOffset | null {
  const signals = serverSignals(telemetry.tracks);
  if (signals.length === 0 || client.sent_us.length < 20) return null;
  const rhoAt = (centre: number) => {
    const near = signals.map((s) => relevant(s, client, centre));
    return (shiftUs: number): number => meanCorrelation(near, client, shiftUs);
  };
  let best = { shift: 0, rho: -2, centre: 0 };
  const coarse: { shift: number; rho: number }[] = [];
  for (const centre of centres(signals, client)) {
    const rho = rhoAt(centre);
    for (let d = -NEAR_US; d <= NEAR_US; d += COARSE_US) {
      const point = { shift: centre + d, rho: rho(centre + d), centre };
      coarse.push(point);
      if (point.rho > best.rho) best = point;
    }
  }
  const intervalUs = Math.max(...signals.map((s) => s.interval_us));
  const rival = Math.max(-1, ...coarse.filter((p) => Math.abs(p.shift - best.shift) > Math.max(2 * intervalUs, 2e6)).map((p) => p.rho));
  if (best.rho < MIN_RHO || best.rho - rival < MIN_LEAD) return null;
  const fine: { shift: number; rho: number }[] = [];
  const rho = rhoAt(best.centre);
  for (let d = -COARSE_US; d <= COARSE_US; d += FINE_US) fine.push({ shift: best.shift + d, rho: rho(best.shift + d) });
  const top = fine.reduce((a, b) => (b.rho > a.rho ? b : a));
  // The peak is flat to about its own sampling error: take its middle, and its width as the uncertainty.
  const flat = fine.filter((p) => p.rho >= top.rho - 0.25 * (1 - top.rho) - 1e-9).map((p) => p.shift);
  const low = Math.min(...flat);
  const high = Math.max(...flat);
  return {
    offset_ms: (low + high) / 2000,
    uncertainty_ms: Math.max(FINE_US, (high - low) / 2) / 1000,
    rho: top.rho,
    rho_unshifted: rhoAt(0)(0),
  };
}

/** Whether the offset is worth applying: a shift that explains no more than none at all is no evidence. */
export const isOffsetBeyondDoubt = (o: ActivityOffset): boolean =>
  Math.abs(o.offset_ms) > Math.max(2 * o.uncertainty_ms, 100) && o.rho - o.rho_unshifted >= MIN_LEAD;

interface Signal {
  readonly kind: "inflight" | "finished";
  readonly ts_us: Float64Array;
  readonly value: Float64Array;
  readonly interval_us: number;
}

/** Signals summed over all engines that share their stamps (one scrape reads them all). */
function serverSignals(tracks: readonly Track[]): Signal[] {
  const sums = new Map<string, Map<number, number>>();
  const add = (kind: string, ts: number, value: number): void => {
    const at = sums.get(kind) ?? new Map<number, number>();
    at.set(ts, (at.get(ts) ?? 0) + value);
    sums.set(kind, at);
  };
  for (const track of tracks) {
    if (track.entity.kind !== "server") continue;
    const { running, waiting, success_total } = track.columns;
    track.ts_us.forEach((ts, i) => {
      if (running && !Number.isNaN(running[i]!))
        add("inflight", ts, running[i]! + (waiting && !Number.isNaN(waiting[i]!) ? waiting[i]! : 0));
      if (success_total && !Number.isNaN(success_total[i]!)) add("finished", ts, success_total[i]!);
    });
  }
  return [...sums].flatMap(([kind, at]) => {
    const ts_us = Float64Array.from([...at.keys()].sort((a, b) => a - b));
    if (ts_us.length < MIN_SAMPLES) return [];
    const value = Float64Array.from(ts_us, (t) => at.get(t)!);
    return [{ kind: kind as Signal["kind"], ts_us, value, interval_us: (ts_us.at(-1)! - ts_us[0]!) / (ts_us.length - 1) }];
  });
}

/** Samples beyond this many add time, not certainty: the middle ones are taken. */
const MAX_SAMPLES = 1200;

function relevant(s: Signal, client: ClientActivity, centre: number): Signal {
  const from = countUpTo(s.ts_us, client.sent_us[0]! + centre - NEAR_US);
  const to = countUpTo(s.ts_us, client.end_us.at(-1)! + centre + NEAR_US);
  const surplus = Math.max(0, to - from - MAX_SAMPLES) >> 1;
  return { ...s, ts_us: s.ts_us.subarray(from + surplus, to - surplus), value: s.value.subarray(from + surplus, to - surplus) };
}

function centres(signals: readonly Signal[], client: ClientActivity): number[] {
  const from = client.sent_us[0]!;
  const to = client.end_us.at(-1)!;
  const start = Math.min(...signals.map((s) => s.ts_us[0]!));
  const end = Math.max(...signals.map((s) => s.ts_us.at(-1)!));
  const overlap = (shift: number): number => Math.min(end, to + shift) - Math.max(start, from + shift);
  const need = 0.5 * Math.min(end - start, to - from);
  if (overlap(0) >= need) return [0];
  const out: number[] = [];
  for (let k = -ZONES; k <= ZONES; k++) if (overlap(k * ZONE_US) >= need) out.push(k * ZONE_US);
  return out;
}

function meanCorrelation(signals: readonly Signal[], client: ClientActivity, shiftUs: number): number {
  let sum = 0;
  for (const s of signals) {
    const xs: number[] = [];
    const ys: number[] = [];
    for (let i = 1; i < s.ts_us.length; i++) {
      const t = s.ts_us[i]! - shiftUs;
      const ended = countUpTo(client.end_us, t);
      if (s.kind === "inflight") {
        xs.push(s.value[i]!);
        ys.push(countUpTo(client.sent_us, t) - ended);
      } else if (s.value[i]! >= s.value[i - 1]!) {
        xs.push(s.value[i]! - s.value[i - 1]!);
        ys.push(ended - countUpTo(client.end_us, s.ts_us[i - 1]! - shiftUs));
      }
    }
    sum += correlation(xs, ys);
  }
  return sum / signals.length;
}

/** How many elements of an ascending array are <= t. */
function countUpTo(sorted: Float64Array, t: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (sorted[mid]! <= t) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** Pearson's correlation; 0 when one side is flat or points are few. */
function correlation(xs: readonly number[], ys: readonly number[]): number {
  const n = xs.length;
  if (n < MIN_SAMPLES) return 0;
  const mx = xs.reduce((a, b) => a + b, 0) / n;
  const my = ys.reduce((a, b) => a + b, 0) / n;
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (let i = 0; i < n; i++) {
    xy += (xs[i]! - mx) * (ys[i]! - my);
    xx += (xs[i]! - mx) ** 2;
    yy += (ys[i]! - my) ** 2;
  }
  return xx === 0 || yy === 0 ? 0 : xy / Math.sqrt(xx * yy);
}
