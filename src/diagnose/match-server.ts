import type { RequestColumns, Track } from "../../schemas/index.js";
import { lastAtOrBefore, sumOfBoxes, valueAt } from "../core/step-function.js";

/** A server is taken for the requests' own if this share of its readings agrees with them, and this much more than any other's. */
const MIN_AGREEMENT = 0.5;
const MIN_LEAD = 0.15;
const MIN_READINGS = 6;
/** Counts agree within this many requests or this part of the larger one: gauges lag, and stamps lie within an interval. */
const NEAR_REQUESTS = 2;
const NEAR_SHARE = 0.15;

const near = (a: number, b: number): boolean => Math.abs(a - b) <= Math.max(NEAR_REQUESTS, NEAR_SHARE * Math.max(a, b));

interface Seen {
  readonly inFlight: (t: number) => number;
  /** Requests that had finished by `t`. */
  readonly finished: (t: number) => number;
  readonly from: number;
  readonly to: number;
}

const seenOf = (requests: RequestColumns, rows: Int32Array): Seen | null => {
  const from = new Float64Array(rows.length);
  const to = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    from[i] = requests.arrival_us[rows[i]!]!;
    to[i] = requests.end_us[rows[i]!]!;
  }
  const boxes = sumOfBoxes(from, to, null);
  const last = boxes.at.length - 1;
  if (last < 1) return null;
  const ends = to.filter(Number.isFinite).sort();
  return { inFlight: (t) => valueAt(boxes, t), finished: (t) => lastAtOrBefore(ends, t) + 1, from: boxes.at[0]!, to: boxes.at[last]! };
};

/** Share of one server's readings of load and of finished requests that agree with what the trace says; NaN with too few. */
const agreement = (tracks: readonly Track[], seen: Seen): number => {
  let good = 0;
  let all = 0;
  for (const t of tracks) {
    const { running, waiting, success_total } = t.columns;
    const lag = (t.source.lag_ms ?? 0) * 1000;
    for (let i = 0; i < t.ts_us.length; i++) {
      const at = t.ts_us[i]! - lag;
      if (at < seen.from || at > seen.to) continue;
      if (Number.isFinite(running?.[i])) {
        all++;
        if (near(seen.inFlight(at), running![i]! + (Number.isFinite(waiting?.[i]) ? waiting![i]! : 0))) good++;
      }
      const done = i > 0 && success_total !== undefined ? success_total[i]! - success_total[i - 1]! : Number.NaN;
      if (done >= 0) {
        all++;
        if (near(seen.finished(at) - seen.finished(t.ts_us[i - 1]! - lag), done)) good++;
      }
    }
  }
  return all < MIN_READINGS ? Number.NaN : good / all;
};

/**
 * Which of several servers the unnamed requests ran on: the one whose own counts of requests in flight and finished agree with the
 * client's. -1 when none stands out: their telemetry must then not be used.
 */
export const matchServer = (requests: RequestColumns, rows: Int32Array, servers: readonly (readonly Track[])[]): number => {
  const seen = seenOf(requests, rows);
  if (seen === null) return -1;
  const found = servers.map((tracks, i) => ({ i, share: agreement(tracks, seen) })).filter((s) => Number.isFinite(s.share));
  found.sort((a, b) => b.share - a.share || a.i - b.i);
  const best = found[0];
  if (best === undefined || best.share < MIN_AGREEMENT) return -1;
  return best.share - (found[1]?.share ?? 0) >= MIN_LEAD ? best.i : -1;
};
