import type { IntervalSeries } from "./interval-series.js";
import { integralOver, lastAtOrBefore, type StepFunction } from "./step-function.js";

export interface WindowMean {
  /** Mean of the readings, each by its share of the window's weight; NaN when nothing overlaps. */
  readonly mean: number;
  /** Share of the window's weight that readings cover. */
  readonly coverage: number;
  /** Share of the used readings' time that lies in the window: below 1 the mean is diluted by what was around. */
  readonly dilution: number;
  readonly readings: number;
}

const NOTHING: WindowMean = { mean: Number.NaN, coverage: 0, dilution: 0, readings: 0 };

/** Prefix sums of a series, so that a mean over a plain window costs two binary searches. */
export interface PrefixSums {
  readonly series: IntervalSeries;
  /** area[i], time[i]: sums of value x length and of length over the first i readings. */
  readonly area: Float64Array;
  readonly time: Float64Array;
}

export const prefixSums = (series: IntervalSeries): PrefixSums => {
  const area = new Float64Array(series.n + 1);
  const time = new Float64Array(series.n + 1);
  for (let i = 0; i < series.n; i++) {
    const length = series.to[i]! - series.from[i]!;
    area[i + 1] = area[i]! + series.value[i]! * length;
    time[i + 1] = time[i]! + length;
  }
  return { series, area, time };
};

/** Mean over [from, to), µs. */
export const windowMean = (sums: PrefixSums, from: number, to: number): WindowMean => {
  const { series, area, time } = sums;
  if (series.n === 0 || !(to > from)) return NOTHING;
  let first = Math.max(0, lastAtOrBefore(series.from, from));
  while (first < series.n && series.to[first]! <= from) first++;
  const last = lastAtOrBefore(series.from, to - 1e-9);
  if (last < first) return NOTHING;
  const cutFront = Math.max(0, from - series.from[first]!);
  const cutBack = Math.max(0, series.to[last]! - to);
  const covered = time[last + 1]! - time[first]! - cutFront - cutBack;
  if (!(covered > 0)) return NOTHING;
  const sum = area[last + 1]! - area[first]! - cutFront * series.value[first]! - cutBack * series.value[last]!;
  return {
    mean: sum / covered,
    coverage: Math.min(1, covered / (to - from)),
    dilution: covered / (time[last + 1]! - time[first]!),
    readings: last - first + 1,
  };
};

/**
 * Means of columns that share their intervals (one track's) over many windows [from[i], to[i]), µs; NaN where nothing overlaps. The search
 * is done once for all columns, and gallops from where the window before began: fast when `from` ascends, as requests do; any order is right.
 */
export const windowMeans = (columns: readonly PrefixSums[], from: ArrayLike<number>, to: ArrayLike<number>): Float64Array[] => {
  const series = columns[0]?.series;
  if (series === undefined) return [];
  const first = new Int32Array(from.length);
  const after = new Int32Array(from.length);
  for (let i = 0, at = 0; i < from.length; i++) {
    at = firstAbove(series.to, from[i]!, at);
    first[i] = at;
    after[i] = firstAbove(series.from, to[i]!, at, true);
  }
  return columns.map((sums) => meansAt(sums, from, to, first, after));
};

const meansAt = (sums: PrefixSums, from: ArrayLike<number>, to: ArrayLike<number>, first: Int32Array, after: Int32Array): Float64Array => {
  const { area, time } = sums;
  const { from: starts, to: ends, value } = sums.series;
  const out = new Float64Array(from.length);
  for (let i = 0; i < out.length; i++) {
    const a = first[i]!;
    const b = after[i]!;
    if (b <= a || !(to[i]! > from[i]!)) {
      out[i] = Number.NaN;
      continue;
    }
    const front = Math.max(0, from[i]! - starts[a]!);
    const back = Math.max(0, ends[b - 1]! - to[i]!);
    const covered = time[b]! - time[a]! - front - back;
    out[i] = covered > 0 ? (area[b]! - area[a]! - front * value[a]! - back * value[b - 1]!) / covered : Number.NaN;
  }
  return out;
};

const isBelow = (value: number, x: number, orEqual: boolean): boolean => (orEqual ? value < x : value <= x);

/** First index whose value is > x (or >= x), searched outwards from a hint by doubling steps. */
const firstAbove = (ascending: Float64Array, x: number, hint: number, orEqual = false): number => {
  const n = ascending.length;
  let low = Math.min(hint, n);
  let high = low;
  let step = 1;
  if (low < n && isBelow(ascending[low]!, x, orEqual)) {
    while (high < n && isBelow(ascending[high]!, x, orEqual)) {
      low = high + 1;
      high += step;
      step *= 2;
    }
    high = Math.min(high, n);
  } else {
    while (low > 0 && !isBelow(ascending[low - 1]!, x, orEqual)) {
      high = low - 1;
      low = Math.max(0, low - step);
      step *= 2;
    }
  }
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (isBelow(ascending[mid]!, x, orEqual)) low = mid + 1;
    else high = mid;
  }
  return low;
};

/**
 * Mean under a weight over time (>= 0, positive only where the episode lies). Costs the readings and breaks inside of the window.
 * The weight's own span bounds the search.
 */
export const weightedMean = (series: IntervalSeries, weight: StepFunction, support: StepFunction): WindowMean => {
  const { at } = weight;
  if (series.n === 0 || at.length < 2) return NOTHING;
  const start = at[0]!;
  const end = at[at.length - 1]!;
  const whole = weight.integral[at.length - 1]!;
  if (!(whole > 0)) return NOTHING;
  let i = Math.max(0, lastAtOrBefore(series.from, start));
  let used = 0;
  let area = 0;
  let inside = 0;
  let readings = 0;
  for (; i < series.n && series.from[i]! < end; i++) {
    if (series.to[i]! <= start) continue;
    const w = integralOver(weight, series.from[i]!, series.to[i]!);
    if (!(w > 0)) continue;
    used += w;
    area += w * series.value[i]!;
    inside += (w * integralOver(support, series.from[i]!, series.to[i]!)) / (series.to[i]! - series.from[i]!);
    readings++;
  }
  if (!(used > 0)) return NOTHING;
  return { mean: area / used, coverage: Math.min(1, used / whole), dilution: Math.min(1, inside / used), readings };
};
