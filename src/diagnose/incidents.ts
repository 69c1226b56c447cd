import type { Metric } from "../../schemas/index.js";
import { quantile } from "../core/quantile.js";
import { type StepFunction, sumOfBoxes } from "../core/step-function.js";
import { type Detection, FLOOR_MS } from "./detector.js";
import type { GroupRequests } from "./group-requests.js";
import { extent, lossCurve, rootWeight } from "./incident-window.js";
import type { Loss } from "./losses.js";
import type { PhaseShares } from "./phase-shares.js";

/** Slow requests that belong together in time. */
export interface Incident {
  /** Rows of the group, ascending. */
  readonly rows: readonly number[];
  readonly losses: readonly Loss[];
  readonly metric: Metric;
  readonly from: number;
  readonly to: number;
  /** Time lost per unit of time, summed over requests, with the tail of a draining queue held small. */
  readonly weight: StepFunction;
  /** 1 where time is lost. */
  readonly support: StepFunction;
  readonly excess_ms: number;
  /** For an incident that no request shows: what it rests on, and its phases. */
  readonly given?: { readonly basis: "histogram" | "telemetry"; readonly phases: PhaseShares };
}

/** Episodes closer than this, or than two usual inter-arrival times, are one. */
const MERGE_US = 2e6;
/** A valley this far below both neighbouring peaks parts two incidents. */
const VALLEY = 0.3;
/** Each part must hold this share of the lost time and this many requests. */
const PART_SHARE = 0.08;
const PART_ROWS = 3;

/** Joins losses whose main intervals touch or nearly touch. */
const clusters = (byRow: ReadonlyMap<number, Loss[]>, gap_us: number): number[][] => {
  const spans = [...byRow.entries()].map(([row, losses]) => {
    const main = mainLoss(losses);
    return { row, from: main.from, to: main.to };
  });
  spans.sort((a, b) => a.from - b.from || a.row - b.row);
  const out: number[][] = [];
  let reach = Number.NEGATIVE_INFINITY;
  for (const s of spans) {
    if (out.length === 0 || s.from > reach + gap_us) out.push([]);
    out[out.length - 1]!.push(s.row);
    reach = Math.max(reach, s.to);
  }
  return out;
};

/** The loss that carries most of a request's excess. */
export const mainLoss = (losses: readonly Loss[]): Loss => {
  let best = losses[0]!;
  for (const l of losses) if ((l.to - l.from) * l.rate > (best.to - best.from) * best.rate) best = l;
  return best;
};

export const byStart = (a: Incident, b: Incident): number => a.from - b.from || (a.rows[0] ?? 0) - (b.rows[0] ?? 0);

const BINS = 400;

/** The time of the deepest valley that parts a cluster in two, or NaN. */
const valley = (rows: readonly number[], byRow: ReadonlyMap<number, Loss[]>): number => {
  const losses = rows.map((r) => mainLoss(byRow.get(r)!));
  const curve = lossCurve(losses);
  if (curve.at.length < 4) return Number.NaN;
  const start = curve.at[0]!;
  const end = curve.at[curve.at.length - 1]!;
  const bins = Math.min(BINS, Math.max(8, Math.ceil((end - start) / 250e3)));
  const width = (end - start) / bins;
  const mass = new Float64Array(bins);
  for (let b = 0, i = 0; b < bins; b++) {
    let t = start + b * width;
    const until = t + width;
    while (i + 1 < curve.at.length && curve.at[i + 1]! <= t) i++;
    while (t < until) {
      const next = i + 1 < curve.at.length ? Math.min(until, curve.at[i + 1]!) : until;
      mass[b] = mass[b]! + curve.value[i]! * (next - t);
      t = next;
      if (i + 1 < curve.at.length && curve.at[i + 1]! <= t) i++;
      else if (t < until && i + 1 >= curve.at.length) break;
    }
  }
  const smooth = mass.map((_, b) => (mass[Math.max(0, b - 1)]! + mass[b]! + mass[Math.min(bins - 1, b + 1)]!) / 3);
  const right = new Float64Array(bins + 1);
  for (let b = bins - 1; b >= 0; b--) right[b] = Math.max(right[b + 1]!, smooth[b]!);
  const total = mass.reduce((a, b) => a + b, 0);
  let left = 0;
  let before = 0;
  let best = Number.NaN;
  let depth = VALLEY;
  for (let b = 0; b < bins; b++) {
    left = Math.max(left, smooth[b]!);
    before += mass[b]!;
    const peak = Math.min(left, right[b + 1]!);
    if (before < PART_SHARE * total || before > (1 - PART_SHARE) * total || !(peak > 0)) continue;
    if (smooth[b]! / peak < depth) {
      depth = smooth[b]! / peak;
      best = start + (b + 0.5) * width;
    }
  }
  return best;
};

const split = (rows: number[], byRow: ReadonlyMap<number, Loss[]>): number[][] => {
  const done: number[][] = [];
  const queue = [rows];
  while (queue.length > 0) {
    const part = queue.shift()!;
    const at = part.length >= 2 * PART_ROWS ? valley(part, byRow) : Number.NaN;
    const middle = (r: number) => {
      const m = mainLoss(byRow.get(r)!);
      return (m.from + m.to) / 2;
    };
    const left = part.filter((r) => middle(r) < at);
    const right = part.filter((r) => middle(r) >= at);
    if (Number.isNaN(at) || left.length < PART_ROWS || right.length < PART_ROWS) done.push(part);
    else queue.push(left, right);
  }
  return done;
};

const leadingMetric = (rows: readonly number[], detection: Detection): Metric => {
  let best: Metric = "ttft";
  let most = -1;
  for (const m of detection.metrics) {
    const count = rows.reduce((a, r) => a + (m.candidate[r]! | m.violation[r]!), 0);
    if (count > most) {
      most = count;
      best = m.metric;
    }
  }
  return best;
};

/** A single slow request must be that many floors slow. */
const LONE_FLOORS = 3;

/** Few, mild candidates are noise: an episode needs three of them, a threefold one, or a broken limit. */
const worthKeeping = (rows: readonly number[], detection: Detection): boolean => {
  let strong = 0;
  for (const r of rows) {
    let spike = false;
    for (const m of detection.metrics) {
      if (m.violation[r] === 1) return true;
      if (m.candidate[r] !== 1) continue;
      const ratio = m.observed[r]! / m.expected[r]!;
      const floor = FLOOR_MS[m.metric] * (rows.length === 1 ? LONE_FLOORS : 1);
      if ((m.metric === "itl" ? ratio >= 6 : ratio >= 3) && m.observed[r]! - m.expected[r]! >= floor) return true;
      spike = true;
    }
    if (spike) strong++;
  }
  return strong >= 3;
};

/** The incident of some requests that lost time; null where they lost none. */
export const incidentOf = (given: readonly number[], losses: readonly Loss[], q: GroupRequests, detection: Detection): Incident | null => {
  const rows = [...given].sort((a, b) => a - b);
  const { weight, support } = rootWeight(losses, q, detection);
  if (weight.at.length < 2) return null;
  const excess_ms = losses.reduce((a, l) => a + ((l.to - l.from) / 1000) * l.rate, 0);
  return { rows, losses, metric: leadingMetric(rows, detection), ...extent(support), weight, support, excess_ms };
};

export const findIncidents = (q: GroupRequests, detection: Detection, byRow: ReadonlyMap<number, Loss[]>): Incident[] => {
  const arrivals: number[] = [];
  for (let i = 1; i < q.n; i++) arrivals.push(q.arrival[i]! - q.arrival[i - 1]!);
  const usual = arrivals.length > 0 ? quantile(arrivals, 0.5) : 0;
  const gap = Math.max(MERGE_US, 2 * usual);
  const out: Incident[] = [];
  for (const cluster of clusters(byRow, gap)) {
    if (!worthKeeping(cluster, detection)) continue;
    for (const part of split(cluster, byRow)) {
      const rows = [...part].sort((a, b) => a - b);
      const incident = incidentOf(
        rows,
        rows.flatMap((r) => byRow.get(r)!),
        q,
        detection,
      );
      if (incident !== null) out.push(incident);
    }
  }
  return out.sort(byStart);
};

/** Incidents that lost less than this share of what the largest one did are part of what is usual. */
const MINOR = 0.05;

/** 1 or more within any incident of weight, widened by `guard_us` on both sides: what is usual is measured elsewhere. */
export const disturbedTime = (incidents: readonly Incident[], guard_us: number): StepFunction => {
  const largest = incidents.reduce((a, i) => Math.max(a, i.excess_ms), 0);
  const major = incidents.filter((i) => i.excess_ms >= MINOR * largest);
  return sumOfBoxes(
    major.map((i) => i.from - guard_us),
    major.map((i) => i.to + guard_us),
    null,
  );
};
