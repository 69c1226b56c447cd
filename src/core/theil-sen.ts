import { median } from "./quantile.js";

/** Pairs are taken at strides so that their number stays linear in n above this many points. */
const ALL_PAIRS_UP_TO = 300;

/** Slope and intercept of a line by the median of pairwise slopes; NaN with fewer than two distinct x. */
export const theilSen = (x: ArrayLike<number>, y: ArrayLike<number>): { slope: number; intercept: number } => {
  const n = Math.min(x.length, y.length);
  const slopes: number[] = [];
  const pair = (i: number, j: number) => {
    const dx = x[j]! - x[i]!;
    if (dx !== 0 && Number.isFinite(dx)) slopes.push((y[j]! - y[i]!) / dx);
  };
  if (n <= ALL_PAIRS_UP_TO) for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) pair(i, j);
  else for (const share of [2, 3, 5, 7]) for (let i = 0; i + Math.floor(n / share) < n; i++) pair(i, i + Math.floor(n / share));
  const slope = median(slopes);
  const rest = new Float64Array(n);
  for (let i = 0; i < n; i++) rest[i] = y[i]! - slope * x[i]!;
  return { slope, intercept: median(rest) };
};
