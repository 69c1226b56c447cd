import type { WorkModel } from "../../schemas/index.js";
import { type Features, fitNonNegative, predictRow } from "../core/least-squares.js";
import { quantile } from "../core/quantile.js";
import { integralOver } from "../core/step-function.js";
import type { GroupRequests } from "./group-requests.js";
import type { TraceLoad } from "./trace-load.js";

/** Latency that a request's own work explains at the run's usual load, ms a request. */
export interface Baseline {
  readonly expected: Float64Array;
  readonly coefficients: Float64Array | null;
}

/** Rows a coefficient must have before it is fitted. */
const ROWS_PER_COEFFICIENT = 8;

const ones = (n: number) => new Float64Array(n).fill(1);

const fitted = (q: GroupRequests, features: Features, y: Float64Array, rows: ArrayLike<number>): Baseline => {
  for (let k = features.length; k >= 1; k--) {
    if (rows.length < ROWS_PER_COEFFICIENT * k && k > 1) continue;
    const used = features.slice(0, k);
    const b = fitNonNegative(used, y, rows);
    if (b === null) continue;
    const expected = new Float64Array(q.n);
    for (let i = 0; i < q.n; i++) {
      const e = predictRow(b, used, i);
      expected[i] = Number.isFinite(e) ? e : Number.NaN;
    }
    fillMissing(expected, y, rows);
    return { expected, coefficients: b };
  }
  const flat = new Float64Array(q.n).fill(Number.NaN);
  fillMissing(flat, y, rows);
  return { expected: flat, coefficients: null };
};

/** A request of unknown size is held against the plain median. */
const fillMissing = (expected: Float64Array, y: Float64Array, rows: ArrayLike<number>): void => {
  let usual = Number.NaN;
  for (let i = 0; i < expected.length; i++) {
    if (expected[i]! > 0) continue;
    if (Number.isNaN(usual)) {
      const values = new Float64Array(rows.length);
      for (let r = 0; r < rows.length; r++) values[r] = y[rows[r]!]!;
      usual = quantile(values, 0.5);
    }
    expected[i] = usual;
  }
};

/** TTFT ~ a0 + a1 u + a2 A with A = u c + u (u + 1) / 2: linear layers and attention. */
const ttftFeatures = (q: GroupRequests): Features => {
  const attention = new Float64Array(q.n);
  for (let i = 0; i < q.n; i++) {
    const u = q.uncached[i]!;
    attention[i] = u * (q.input[i]! - u) + (u * (u + 1)) / 2;
  }
  return [ones(q.n), q.uncached, attention];
};

/** E2E ~ c0 + c1 n_out + c2 u: the prompt's time and the usual time a token. */
const e2eFeatures = (q: GroupRequests): Features => [ones(q.n), q.output, q.uncached];

export const ttftBaseline = (q: GroupRequests, rows: ArrayLike<number>): Baseline => fitted(q, ttftFeatures(q), q.ttft, rows);

export const e2eBaseline = (q: GroupRequests, rows: ArrayLike<number>): Baseline => fitted(q, e2eFeatures(q), q.e2e, rows);

/** What requests should take by coefficients that were fitted elsewhere; `usual` where a request's size or the coefficients are unknown. */
const predicted = (q: GroupRequests, features: Features, b: readonly number[] | null, usual: number | null): Baseline => {
  const expected = new Float64Array(q.n).fill(usual ?? Number.NaN);
  const coefficients = b === null ? null : Float64Array.from(b);
  for (let i = 0; coefficients !== null && i < q.n; i++) {
    const e = predictRow(coefficients, features.slice(0, coefficients.length), i);
    if (e > 0) expected[i] = e;
  }
  return { expected, coefficients };
};

/** The baselines of another run, for the requests of this one. */
export const modelBaseline = (q: GroupRequests, model: WorkModel, metric: "ttft" | "e2e" | "tpot" | "itl"): Baseline => {
  if (metric === "ttft") return predicted(q, ttftFeatures(q), model.ttft, model.ttft_ms);
  if (metric === "e2e") return predicted(q, e2eFeatures(q), model.e2e, model.e2e_ms);
  return predicted(q, [], null, metric === "tpot" ? model.tpot_ms : model.itl_ms);
};

/** TPOT at the run's usual load: the plain median of the undisturbed rows. */
export const tpotBaseline = (q: GroupRequests, rows: ArrayLike<number>): Baseline => fitted(q, [ones(q.n)], q.tpot, rows);

export const gapBaseline = (q: GroupRequests, rows: ArrayLike<number>): Baseline => fitted(q, [ones(q.n)], q.maxGap, rows);

/** Decode step ~ b0 + b1 B + b2 K at the load that each request really met; null when too few rows tell. */
export const conditionalTpot = (
  q: GroupRequests,
  load: TraceLoad,
  rows: ArrayLike<number>,
): { expected: Float64Array; coefficients: Float64Array } | null => {
  const batch = new Float64Array(q.n).fill(Number.NaN);
  const resident = new Float64Array(q.n).fill(Number.NaN);
  for (let i = 0; i < q.n; i++) {
    const length = q.end[i]! - q.first[i]!;
    if (!(length > 0)) continue;
    batch[i] = integralOver(load.decoding, q.first[i]!, q.end[i]!) / length;
    resident[i] = integralOver(load.resident, q.first[i]!, q.end[i]!) / length / 1000;
  }
  if (rows.length < 3 * ROWS_PER_COEFFICIENT) return null;
  const features = [ones(q.n), batch, resident];
  const coefficients = fitNonNegative(features, q.tpot, rows);
  if (coefficients === null) return null;
  const expected = new Float64Array(q.n);
  for (let i = 0; i < q.n; i++) expected[i] = predictRow(coefficients, features, i);
  return { expected, coefficients };
};
