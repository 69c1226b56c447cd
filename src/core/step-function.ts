/** A piecewise constant function of time: `value[i]` holds on [at[i], at[i + 1]); 0 before the first and after the last break. */
export interface StepFunction {
  readonly at: Float64Array;
  readonly value: Float64Array;
  /** integral[i]: integral from at[0] to at[i]. */
  readonly integral: Float64Array;
}

/** Sum of boxes `[from, to) * weight`. Boxes with a missing bound or to <= from are left out. O(n log n). */
export const sumOfBoxes = (from: ArrayLike<number>, to: ArrayLike<number>, weight: ArrayLike<number> | null): StepFunction => {
  const used: number[] = [];
  for (let i = 0; i < from.length; i++) {
    const w = weight === null ? 1 : weight[i]!;
    if (to[i]! > from[i]! && Number.isFinite(w) && w !== 0 && Number.isFinite(from[i]!) && Number.isFinite(to[i]!)) used.push(i);
  }
  const starts = ascending(from, used);
  const ends = ascending(to, used);
  const at = new Float64Array(2 * used.length);
  const value = new Float64Array(2 * used.length);
  let n = 0;
  let level = 0;
  for (let s = 0, e = 0; e < ends.length; ) {
    const starting = s < starts.length && from[starts[s]!]! <= to[ends[e]!]!;
    const i = starting ? starts[s++]! : ends[e++]!;
    const t = starting ? from[i]! : to[i]!;
    level += (starting ? 1 : -1) * (weight === null ? 1 : weight[i]!);
    if (n > 0 && at[n - 1] === t) value[n - 1] = level;
    else {
      at[n] = t;
      value[n++] = level;
    }
  }
  if (n > 0) value[n - 1] = 0;
  return stepFunction(at.slice(0, n), value.slice(0, n));
};

/** The indices in order of their values; ties in order of index. */
const ascending = (values: ArrayLike<number>, used: readonly number[]): readonly number[] => {
  let sorted = true;
  for (let i = 1; i < used.length && sorted; i++) sorted = values[used[i - 1]!]! <= values[used[i]!]!;
  return sorted ? used : [...used].sort((a, b) => values[a]! - values[b]! || a - b);
};

/** From breaks and values; `at` ascends strictly and the last value is taken to be 0 from there on. */
export const stepFunction = (at: Float64Array, value: Float64Array): StepFunction => {
  const integral = new Float64Array(at.length);
  for (let i = 1; i < at.length; i++) integral[i] = integral[i - 1]! + value[i - 1]! * (at[i]! - at[i - 1]!);
  return { at, value, integral };
};

/** Index of the last element <= x in an ascending array; -1 when there is none. */
export const lastAtOrBefore = (ascending: ArrayLike<number>, x: number): number => {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (ascending[mid]! <= x) low = mid + 1;
    else high = mid;
  }
  return low - 1;
};

export const valueAt = (f: StepFunction, t: number): number => {
  const i = lastAtOrBefore(f.at, t);
  return i < 0 ? 0 : f.value[i]!;
};

/** Integral over [from, to). */
export const integralOver = (f: StepFunction, from: number, to: number): number => {
  if (!(to > from)) return 0;
  return primitive(f, to) - primitive(f, from);
};

const primitive = (f: StepFunction, t: number): number => {
  const i = lastAtOrBefore(f.at, t);
  return i < 0 ? 0 : f.integral[i]! + f.value[i]! * (t - f.at[i]!);
};

/** Mean over [from, to); the value at `from` when the window is empty. */
export const meanOver = (f: StepFunction, from: number, to: number): number =>
  to > from ? integralOver(f, from, to) / (to - from) : valueAt(f, from);
