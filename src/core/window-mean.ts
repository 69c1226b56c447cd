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
