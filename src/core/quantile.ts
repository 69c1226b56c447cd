/** The finite values of `values`, ascending, as a new array. */
export const sortedFinite = (values: ArrayLike<number>): Float64Array => {
  const kept = new Float64Array(values.length);
  let n = 0;
  for (let i = 0; i < values.length; i++) {
    const v = values[i]!;
    if (Number.isFinite(v)) kept[n++] = v;
  }
  return kept.subarray(0, n).sort();
};

/** Quantile `p` in [0, 1] of an ascending array, linear between order statistics (Hyndman-Fan type 7, as numpy); NaN when empty. */
export const quantileSorted = (sorted: ArrayLike<number>, p: number): number => {
  const n = sorted.length;
  if (n === 0) return Number.NaN;
  const at = (n - 1) * Math.min(1, Math.max(0, p));
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(n - 1, below + 1)]!;
  return low + (at - below) * (high - low);
};

/** Quantile of unsorted values; missing (NaN) and infinite values are left out. */
export const quantile = (values: ArrayLike<number>, p: number): number => quantileSorted(sortedFinite(values), p);

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);
