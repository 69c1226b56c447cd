import { median, quantile } from "../../src/core/quantile.js";
import type { Mark, Series } from "./read-recording.js";

/** An instant at which the load changed, with the quiet time before and after it. */
export interface Edge {
  readonly at_us: number;
  readonly before_us: number;
  readonly after_us: number;
}

export interface Response {
  /** Steps that moved the column clearly. */
  readonly edges: number;
  /** Time from the step to the first change, ms. */
  readonly lag_ms: number;
  /** Length of the mean, if it is one: an average over W answers a step with a ramp of length W. */
  readonly window_ms: number;
}

/** Starts and ends of all loads; each is bounded by its neighbours. */
export function edgesOf(marks: readonly Mark[]): Edge[] {
  const times = marks.filter((m) => m.ran && m.name !== "idle" && m.name !== "resident").flatMap((m) => [m.start_us, m.end_us]);
  times.sort((a, b) => a - b);
  return times.map((at_us, i) => ({
    at_us,
    before_us: times[i - 1] ?? at_us - 1_000_000,
    after_us: times[i + 1] ?? at_us + 1_500_000,
  }));
}

const within = ({ ts_us, value }: Series, from_us: number, to_us: number): number[] =>
  value.filter((_, i) => ts_us[i]! >= from_us && ts_us[i]! < to_us);

/** Levels are read in this last share of the time before the next step. */
const SETTLED = 0.35;
/** A step counts when it is this many times the spread of both levels, and this share of the column's whole range. */
const CLEAR_SPREAD = 4;
const CLEAR_RANGE = 0.2;

const spread = (values: readonly number[], centre: number): number => median(values.map((v) => Math.abs(v - centre)));

/** Time after `edge` at which the column has made `share` of its way, µs; between two readings it is taken to move evenly. */
function crossing(series: Series, edge: Edge, from: number, to: number, share: number): number | null {
  const level = from + share * (to - from);
  const up = to > from;
  let before: { t: number; v: number } = { t: edge.at_us, v: from };
  for (const [i, t] of series.ts_us.entries()) {
    if (t < edge.at_us) continue;
    if (t > edge.after_us) return null;
    const v = series.value[i]!;
    if (up ? v >= level : v <= level) {
      const part = v === before.v ? 1 : (level - before.v) / (v - before.v);
      return before.t + Math.min(1, Math.max(0, part)) * (t - before.t) - edge.at_us;
    }
    before = { t, v };
  }
  return null;
}

function answer(series: Series, edge: Edge, range: number): { t10: number; t90: number } | null {
  const settled = (from_us: number, to_us: number): number[] => within(series, to_us - SETTLED * (to_us - from_us), to_us);
  const pre = settled(Math.max(edge.before_us, edge.at_us - 2_000_000), edge.at_us);
  const post = settled(edge.at_us, edge.after_us);
  if (pre.length < 2 || post.length < 2) return null;
  const [from, to] = [median(pre), median(post)];
  const move = Math.abs(to - from);
  if (move < CLEAR_SPREAD * (spread(pre, from) + spread(post, to)) || move < CLEAR_RANGE * range) return null;
  const t10 = crossing(series, edge, from, to, 0.1);
  const t90 = crossing(series, edge, from, to, 0.9);
  return t10 === null || t90 === null || t90 < t10 ? null : { t10, t90 };
}

/** Lag and averaging window of a column from its answers to steps, medians over the steps; null when fewer than three moved it clearly. */
export function stepResponse(series: Series, edges: readonly Edge[]): Response | null {
  if (series.value.length < 10) return null;
  const range = quantile(series.value, 0.98) - quantile(series.value, 0.02);
  const answers = range > 0 ? edges.flatMap((edge) => answer(series, edge, range) ?? []) : [];
  if (answers.length < 3) return null;
  // A ramp of length W that begins after the lag L passes a tenth at L + W/10 and nine tenths at L + 9W/10.
  const windows = answers.map(({ t10, t90 }) => (t90 - t10) / 0.8);
  const lags = answers.map(({ t10 }, i) => Math.max(0, t10 - 0.1 * windows[i]!));
  return { edges: answers.length, lag_ms: median(lags) / 1000, window_ms: median(windows) / 1000 };
}

/** Median time between changes of the value while a load ran, ms; null with fewer than eight of them. It cannot be below the interval of the readings. */
export function refreshMs(series: Series, marks: readonly Mark[]): number | null {
  const gaps: number[] = [];
  for (const { start_us, end_us } of marks) {
    let changed_us: number | null = null;
    let last: number | null = null;
    for (const [i, t] of series.ts_us.entries()) {
      if (t < start_us || t > end_us) continue;
      const v = series.value[i]!;
      if (last !== null && v !== last) {
        if (changed_us !== null) gaps.push(t - changed_us);
        changed_us = t;
      }
      last = v;
    }
  }
  return gaps.length < 8 ? null : median(gaps) / 1000;
}

/** Median interval of the readings, ms. */
export const intervalMs = ({ ts_us }: Series): number | null =>
  ts_us.length < 3 ? null : median(ts_us.slice(1).map((t, i) => t - ts_us[i]!)) / 1000;
