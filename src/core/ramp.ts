/** Clamp to [lo, hi]. NaN stays NaN. */
export const clamp = (x: number, lo: number, hi: number): number => (Number.isNaN(x) ? x : Math.min(hi, Math.max(lo, x)));

/** 0 at `lo`, 1 at `hi`, linear between; `lo > hi` makes a falling ramp. NaN stays NaN. */
export const ramp = (x: number, lo: number, hi: number): number => {
  if (lo === hi) return Number.isNaN(x) ? Number.NaN : x >= hi ? 1 : 0;
  return clamp((x - lo) / (hi - lo), 0, 1);
};

/** Probabilities proportional to exp(score / temperature), summing to 1; -Infinity scores get 0. */
export const softmax = (scores: readonly number[], temperature = 1): number[] => {
  const top = Math.max(...scores);
  const raw = scores.map((s) => Math.exp((s - top) / temperature));
  const sum = raw.reduce((a, b) => a + b, 0);
  return raw.map((x) => x / sum);
};
