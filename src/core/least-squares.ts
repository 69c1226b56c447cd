import { robustSd } from "./robust-scale.js";

/** Solves the symmetric positive (semi)definite system of the given active columns by Cholesky with a tiny ridge. */
const solve = (gram: Float64Array, rhs: Float64Array, k: number, active: readonly number[]): Float64Array => {
  const m = active.length;
  const l = new Float64Array(m * m);
  const out = new Float64Array(k);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = gram[active[i]! * k + active[j]!]!;
      if (i === j) sum *= 1 + 1e-10;
      for (let q = 0; q < j; q++) sum -= l[i * m + q]! * l[j * m + q]!;
      if (i === j) l[i * m + i] = Math.sqrt(Math.max(sum, 1e-300));
      else l[i * m + j] = sum / l[j * m + j]!;
    }
  }
  const z = new Float64Array(m);
  for (let i = 0; i < m; i++) {
    let sum = rhs[active[i]!]!;
    for (let q = 0; q < i; q++) sum -= l[i * m + q]! * z[q]!;
    z[i] = sum / l[i * m + i]!;
  }
  for (let i = m - 1; i >= 0; i--) {
    let sum = z[i]!;
    for (let q = i + 1; q < m; q++) sum -= l[q * m + i]! * out[active[q]!]!;
    out[active[i]!] = sum / l[i * m + i]!;
  }
  return out;
};

/** Non-negative least squares on the normal equations (Lawson-Hanson active set): min |Xb - y|, b >= 0. `gram` is row-major k x k. */
const nnlsGram = (gram: Float64Array, rhs: Float64Array, k: number): Float64Array => {
  const passive = new Set<number>();
  let b = new Float64Array(k);
  for (let round = 0; round < 3 * k; round++) {
    let best = -1;
    let bestGradient = 0;
    for (let j = 0; j < k; j++) {
      if (passive.has(j)) continue;
      let gradient = rhs[j]!;
      for (let q = 0; q < k; q++) gradient -= gram[j * k + q]! * b[q]!;
      const scaled = gradient / Math.sqrt(Math.max(gram[j * k + j]!, 1e-300));
      if (scaled > bestGradient + 1e-9 * Math.sqrt(Math.max(rhs[j]! * rhs[j]!, 1e-300) / Math.max(gram[j * k + j]!, 1e-300))) {
        best = j;
        bestGradient = scaled;
      }
    }
    if (best < 0) return b;
    passive.add(best);
    for (;;) {
      const active = [...passive].sort((p, q) => p - q);
      const next = solve(gram, rhs, k, active);
      const worst = active.filter((j) => next[j]! <= 0);
      if (worst.length === 0) {
        b = Float64Array.from(next);
        break;
      }
      let step = 1;
      for (const j of worst) step = Math.min(step, b[j]! / (b[j]! - next[j]! || 1));
      for (const j of active) b[j] = b[j]! + step * (next[j]! - b[j]!);
      for (const j of worst) if (b[j]! <= 1e-12 * (1 + Math.abs(next[j]!))) passive.delete(j);
      if (worst.every((j) => passive.has(j))) passive.delete(worst[0]!);
      for (let j = 0; j < k; j++) if (!passive.has(j)) b[j] = 0;
      if (passive.size === 0) break;
    }
  }
  return b;
};

/** Rows of a design matrix, one Float64Array a feature, all of the length of `y`. */
export type Features = readonly Float64Array[];

const HUBER_DELTA = 1.345;
const MAX_PASSES = 10;

/**
 * Coefficients >= 0 of y ~ sum b_j x_j by relative error (each row divided by y) with Huber weights, iterated.
 * `rows` are the indices used; rows with a missing feature or y <= 0 are left out. Null when no row is usable.
 */
export const fitNonNegative = (features: Features, y: Float64Array, rows: ArrayLike<number>): Float64Array | null => {
  const k = features.length;
  const used: number[] = [];
  for (let r = 0; r < rows.length; r++) {
    const i = rows[r]!;
    if (y[i]! > 0 && Number.isFinite(y[i]!) && features.every((f) => Number.isFinite(f[i]!))) used.push(i);
  }
  if (used.length === 0) return null;
  const weights = new Float64Array(used.length).fill(1);
  const residual = new Float64Array(used.length);
  let b: Float64Array = new Float64Array(k);
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const gram = new Float64Array(k * k);
    const rhs = new Float64Array(k);
    for (let r = 0; r < used.length; r++) {
      const i = used[r]!;
      const inverse = 1 / y[i]!;
      const w = weights[r]!;
      for (let p = 0; p < k; p++) {
        const xp = features[p]![i]! * inverse;
        rhs[p] = rhs[p]! + w * xp;
        for (let q = 0; q <= p; q++) gram[p * k + q] = gram[p * k + q]! + w * xp * features[q]![i]! * inverse;
      }
    }
    for (let p = 0; p < k; p++) for (let q = p + 1; q < k; q++) gram[p * k + q] = gram[q * k + p]!;
    const next = nnlsGram(gram, rhs, k);
    let moved = 0;
    for (let j = 0; j < k; j++) moved = Math.max(moved, Math.abs(next[j]! - b[j]!) / (Math.abs(next[j]!) + 1e-12));
    b = next;
    for (let r = 0; r < used.length; r++) {
      const i = used[r]!;
      let fitted = 0;
      for (let j = 0; j < k; j++) fitted += b[j]! * features[j]![i]!;
      residual[r] = 1 - fitted / y[i]!;
    }
    const scale = Math.max(robustSd(residual), 0.01);
    for (let r = 0; r < used.length; r++) {
      const size = Math.abs(residual[r]!) / scale;
      weights[r] = size <= HUBER_DELTA ? 1 : HUBER_DELTA / size;
    }
    if (moved < 1e-6) break;
  }
  return b;
};

/** sum b_j x_j for row i. */
export const predictRow = (b: ArrayLike<number>, features: Features, i: number): number => {
  let sum = 0;
  for (let j = 0; j < features.length; j++) sum += b[j]! * features[j]![i]!;
  return sum;
};
