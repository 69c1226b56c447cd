export interface Segment {
  /** Rows from (inclusive) to (exclusive). */
  readonly from: number;
  readonly to: number;
  readonly mean: number;
}

export interface SegmentationOptions {
  readonly minRows: number;
  /** Smallest Welch t of a split. */
  readonly minT: number;
  /** Smallest difference of means of a split. */
  readonly minDelta: number;
}

const DEFAULTS: SegmentationOptions = { minRows: 30, minT: 4.5, minDelta: 0.1 };

/** Binary segmentation by Welch's t with an effect-size gate. Values must be finite. Deterministic; O(n log n) for balanced splits. */
export const segment = (values: ArrayLike<number>, options: Partial<SegmentationOptions> = {}): Segment[] => {
  const { minRows, minT, minDelta } = { ...DEFAULTS, ...options };
  const n = values.length;
  const sum = new Float64Array(n + 1);
  const square = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) {
    sum[i + 1] = sum[i]! + values[i]!;
    square[i + 1] = square[i]! + values[i]! * values[i]!;
  }
  const mean = (a: number, b: number) => (sum[b]! - sum[a]!) / (b - a);
  const variance = (a: number, b: number) => Math.max(0, (square[b]! - square[a]!) / (b - a) - mean(a, b) ** 2);
  const out: Segment[] = [];
  const stack: [number, number][] = n > 0 ? [[0, n]] : [];
  while (stack.length > 0) {
    const [from, to] = stack.pop()!;
    let best = -1;
    let bestT = minT;
    for (let cut = from + minRows; cut <= to - minRows; cut++) {
      const delta = Math.abs(mean(from, cut) - mean(cut, to));
      if (delta <= minDelta) continue;
      const error = Math.sqrt(variance(from, cut) / (cut - from) + variance(cut, to) / (to - cut) + 1e-12);
      if (delta / error > bestT) {
        bestT = delta / error;
        best = cut;
      }
    }
    if (best < 0) out.push({ from, to, mean: mean(from, to) });
    else stack.push([best, to], [from, best]);
  }
  return out;
};
