import type { Metric, WorkModel } from "../../schemas/index.js";
import { robustScale } from "../core/robust-scale.js";
import { type Baseline, e2eBaseline, gapBaseline, modelBaseline, tpotBaseline, ttftBaseline } from "./baselines.js";
import type { GroupRequests } from "./group-requests.js";
import { findRegimes, type Regimes } from "./regimes.js";

/** Limits of a spike; see docs/adr/0004-diagnosis.md. */
const Z_LIMIT = 3.5;
const Z_MILD = 2;
const Z_MASK = 2.5;
const MASK_RATIO = Math.log(1.3);
const RATIO = 1.5;
const SIGMA_FLOOR = 0.05;
const PASSES = 3;
/** Runs below these numbers of requests: limits only; leave-one-out with a larger ratio. */
const SLO_ONLY_BELOW = 10;
const SMALL_BELOW = 30;
const SMALL_RATIO = 2.5;

/** Smallest excess that a person notices, ms. */
export const FLOOR_MS: Readonly<Record<Metric, number>> = { ttft: 100, queue: 100, itl: 50, tpot: 5, e2e: 150 };

export interface MetricDetection {
  readonly metric: Metric;
  readonly observed: Float64Array;
  readonly expected: Float64Array;
  /** log(observed / expected) minus its centre. */
  readonly residual: Float64Array;
  /** Robust sigmas above the centre. */
  readonly z: Float64Array;
  readonly candidate: Uint8Array;
  /** 1 where the row is slow enough to belong to an incident that others prove: same ratio and floor, a lower z. */
  readonly mild: Uint8Array;
  /** 1 where a given limit is violated, whatever is usual. */
  readonly violation: Uint8Array;
}

export interface Detection {
  readonly metrics: readonly MetricDetection[];
  readonly regimes: Regimes;
  /** Rows that the baselines rest on. */
  readonly baseRows: Int32Array;
  /** No more of them than a fit needs. */
  readonly fitRows: Int32Array;
  readonly small: boolean;
  /** Coefficients and sigmas behind the expected values, with the centre of the residuals within; what another run can be judged by. */
  readonly fits: ReadonlyMap<Metric, Fit>;
}

interface Fit {
  readonly baseline: Baseline;
  readonly residual: Float64Array;
  readonly median: number;
  readonly sigma: number;
}

interface MetricPlan {
  readonly metric: "ttft" | "e2e" | "tpot" | "itl";
  readonly observed: Float64Array;
  readonly fit: (rows: ArrayLike<number>) => Baseline;
}

const plans = (q: GroupRequests): MetricPlan[] => [
  { metric: "ttft", observed: q.ttft, fit: (rows) => ttftBaseline(q, rows) },
  { metric: "e2e", observed: q.e2e, fit: (rows) => e2eBaseline(q, rows) },
  { metric: "tpot", observed: q.tpot, fit: (rows) => tpotBaseline(q, rows) },
  { metric: "itl", observed: q.maxGap, fit: (rows) => gapBaseline(q, rows) },
];

const logRatio = (observed: Float64Array, expected: Float64Array): Float64Array => {
  const out = new Float64Array(observed.length);
  for (let i = 0; i < out.length; i++) out[i] = observed[i]! > 0 && expected[i]! > 0 ? Math.log(observed[i]! / expected[i]!) : Number.NaN;
  return out;
};

/** Rows beyond this many are thinned at even strides: baselines and scales need no more. */
const ENOUGH_ROWS = 20_000;

const thinned = (rows: Int32Array): Int32Array => {
  if (rows.length <= ENOUGH_ROWS) return rows;
  const out = new Int32Array(ENOUGH_ROWS);
  for (let i = 0; i < ENOUGH_ROWS; i++) out[i] = rows[Math.floor((i * rows.length) / ENOUGH_ROWS)]!;
  return out;
};

/** Centre and sigma of the residuals of some rows. */
const centre = (residual: Float64Array, rows: Int32Array): { median: number; sigma: number } => {
  const used = thinned(rows);
  const values = new Float64Array(used.length);
  for (let i = 0; i < used.length; i++) values[i] = residual[used[i]!]!;
  const s = robustScale(values);
  const sigma = s.down > 0 && s.up > 0 ? Math.min(s.up, 1.5 * s.down) : Math.max(s.up, s.down);
  return { median: Number.isFinite(s.median) ? s.median : 0, sigma: Math.max(SIGMA_FLOOR, Number.isFinite(sigma) ? sigma : 0) };
};

const rowsWhere = (n: number, keep: (i: number) => boolean): Int32Array => {
  const out: number[] = [];
  for (let i = 0; i < n; i++) if (keep(i)) out.push(i);
  return Int32Array.from(out);
};

/** Finds what is slow for its own work, by this run's undisturbed requests or by another run's. Deterministic; O(n log n). */
export const detect = (q: GroupRequests, slo: Readonly<Partial<Record<Metric, number>>>, model?: WorkModel): Detection => {
  const all = plans(q);
  const usableCount = q.usable.reduce((a, b) => a + b, 0);
  const small = usableCount < SMALL_BELOW;
  const masked = new Uint8Array(q.n);
  let regimes: Regimes = { segments: [], base: new Uint8Array(q.n).fill(1) };
  let fits = new Map<Metric, Fit>();
  let baseRows = rowsWhere(q.n, (i) => q.usable[i] === 1);
  for (let pass = 0; pass <= PASSES; pass++) {
    fits = new Map();
    for (const plan of all) {
      const rows = baseRows.filter((i) => Number.isFinite(plan.observed[i]!));
      const baseline = plan.fit(thinned(rows));
      const residual = logRatio(plan.observed, baseline.expected);
      fits.set(plan.metric, { baseline, residual, ...centre(residual, rows) });
    }
    if (pass === PASSES || small) break;
    const shifted = (m: Metric) => {
      const f = fits.get(m)!;
      return f.residual.map((r, i) => (q.usable[i] === 1 ? r - f.median : Number.NaN));
    };
    regimes = findRegimes([shifted("ttft"), shifted("e2e")], q.n);
    masked.fill(0);
    const inBase = rowsWhere(q.n, (i) => q.usable[i] === 1 && regimes.base[i] === 1);
    for (const plan of all) {
      if (plan.metric === "itl") continue;
      const f = fits.get(plan.metric)!;
      const inRegime = centre(f.residual, inBase);
      for (let i = 0; i < q.n; i++) {
        const r = f.residual[i]! - inRegime.median;
        if (r / inRegime.sigma > Z_MASK && r > MASK_RATIO) masked[i] = 1;
      }
    }
    const next = rowsWhere(q.n, (i) => q.usable[i] === 1 && regimes.base[i] === 1 && masked[i] === 0);
    if (next.length < 8) break;
    baseRows = next;
  }
  if (model !== undefined) {
    for (const { metric, observed } of all) {
      const baseline = modelBaseline(q, model, metric);
      fits.set(metric, { baseline, residual: logRatio(observed, baseline.expected), median: 0, sigma: model.sigma[metric] });
    }
    const normal = rowsWhere(
      q.n,
      (i) => q.usable[i] === 1 && !(fits.get("ttft")!.residual[i]! > MASK_RATIO || fits.get("e2e")!.residual[i]! > MASK_RATIO),
    );
    if (normal.length >= 8) baseRows = normal;
  }
  const metrics = all.map((plan) => judge(q, plan, fits.get(plan.metric)!, { slo: slo[plan.metric], usableCount, small }));
  metrics.push(queueDetection(q, slo.queue));
  return { metrics, regimes, baseRows, fitRows: thinned(baseRows), small, fits };
};

const judge = (
  q: GroupRequests,
  plan: MetricPlan,
  fit: Fit,
  options: { slo: number | undefined; usableCount: number; small: boolean },
): MetricDetection => {
  const { slo, usableCount, small } = options;
  const expected = new Float64Array(q.n);
  const residual = new Float64Array(q.n);
  const z = new Float64Array(q.n);
  const candidate = new Uint8Array(q.n);
  const mild = new Uint8Array(q.n);
  const violation = new Uint8Array(q.n);
  const floor = slo === undefined ? FLOOR_MS[plan.metric] : Math.min(FLOOR_MS[plan.metric], 0.1 * slo);
  const minRatio = Math.log(small ? SMALL_RATIO : RATIO);
  for (let i = 0; i < q.n; i++) {
    const y = plan.observed[i]!;
    expected[i] = fit.baseline.expected[i]! * Math.exp(fit.median);
    residual[i] = fit.residual[i]! - fit.median;
    z[i] = residual[i]! / fit.sigma;
    if (q.usable[i] !== 1 && q.censored[i] !== 1) continue;
    if (slo !== undefined && y > slo) violation[i] = 1;
    if (usableCount < SLO_ONLY_BELOW) continue;
    const enough = plan.metric === "itl" ? y > Math.max(3 * q.medianGap[i]!, 50) : true;
    const large = residual[i]! >= minRatio && y - expected[i]! >= floor && enough;
    if (large && z[i]! >= Z_LIMIT) candidate[i] = 1;
    else if (large && z[i]! >= Z_MILD && !small) mild[i] = 1;
    if (q.censored[i] === 1 && plan.metric !== "ttft" && plan.metric !== "e2e") candidate[i] = 0;
  }
  return { metric: plan.metric, observed: plan.observed, expected, residual, z, candidate, mild, violation };
};

/** An expected queue would hide the spike that is looked for: queueing is judged by its size, and only beside a slow TTFT or E2E. */
const queueDetection = (q: GroupRequests, slo: number | undefined): MetricDetection => {
  const zero = () => new Float64Array(q.n);
  const candidate = new Uint8Array(q.n);
  const violation = new Uint8Array(q.n);
  for (let i = 0; i < q.n; i++) if (slo !== undefined && q.queue[i]! > slo) violation[i] = 1;
  return {
    metric: "queue",
    observed: q.queue,
    expected: zero(),
    residual: zero(),
    z: zero(),
    candidate,
    mild: new Uint8Array(q.n),
    violation,
  };
};
