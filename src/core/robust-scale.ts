import { quantileSorted, sortedFinite } from "./quantile.js";

/** Consistency factor that makes a median absolute deviation estimate the sigma of a normal distribution. */
const MAD_TO_SIGMA = 1.4826;

export interface RobustScale {
  readonly median: number;
  /** Scaled median deviation of the values above and below the median; 0 when there are none. */
  readonly up: number;
  readonly down: number;
}

/** Median and one-sided scales: spikes inflate only `up`, skew understates only `down`. NaN when there are no values. */
export const robustScale = (values: ArrayLike<number>): RobustScale => {
  const sorted = sortedFinite(values);
  const mid = quantileSorted(sorted, 0.5);
  const above: number[] = [];
  const below: number[] = [];
  for (const v of sorted) {
    if (v > mid) above.push(v - mid);
    else if (v < mid) below.push(mid - v);
  }
  below.reverse();
  const scale = (side: number[]) => (side.length === 0 ? 0 : MAD_TO_SIGMA * quantileSorted(side, 0.5));
  return { median: mid, up: scale(above), down: scale(below) };
};

/** Scaled median absolute deviation about the median; NaN when there are no values. */
export const robustSd = (values: ArrayLike<number>): number => {
  const sorted = sortedFinite(values);
  const mid = quantileSorted(sorted, 0.5);
  return MAD_TO_SIGMA * quantileSorted(sorted.map((v) => Math.abs(v - mid)).sort(), 0.5);
};
