import type { Report, RequestColumns } from "../../schemas/index.js";
import { quantileSorted, sortedFinite } from "../core/quantile.js";
import { rounded } from "./evidence.js";

type Percentiles = Report["summary"]["ttft_ms"];

/** Rows below which a percentile has no distribution-free 95 % upper bound. */
const LEAST_ROWS = { p50: 5, p95: 59, p99: 299 } as const;

export const percentiles = (values: ArrayLike<number>): Percentiles => {
  const sorted = sortedFinite(values);
  const n = sorted.length;
  let sum = 0;
  for (const v of sorted) sum += v;
  const at = (p: number, least: number) => (n >= least ? rounded(quantileSorted(sorted, p), 3) : null);
  return {
    p50: at(0.5, LEAST_ROWS.p50),
    p95: at(0.95, LEAST_ROWS.p95),
    p99: at(0.99, LEAST_ROWS.p99),
    mean: n > 0 ? rounded(sum / n, 3) : null,
    max: n > 0 ? rounded(sorted[n - 1]!, 3) : null,
    n,
  };
};

/** Latencies of the requests that finished well; load-generator warm-up is left out. */
export const latencySummary = (all: RequestColumns): Omit<Report["summary"], "spikes" | "bottleneck"> => {
  const ok = (i: number) => all.status[i] === 0 && all.warmup[i] === 0;
  const keep = (column: Float64Array) => column.map((v, i) => (ok(i) ? v : Number.NaN));
  const tpot = new Float64Array(all.n).fill(Number.NaN);
  let gaps = 0;
  for (let i = 0; i < all.n; i++) {
    if (!ok(i)) continue;
    if (all.output_tokens[i]! >= 2) tpot[i] = (all.e2e_ms[i]! - all.ttft_ms[i]!) / (all.output_tokens[i]! - 1);
    gaps += all.gap_offset[i + 1]! - all.gap_offset[i]!;
  }
  const itl = new Float64Array(gaps);
  let at = 0;
  for (let i = 0; i < all.n; i++) {
    if (!ok(i)) continue;
    const row = all.gap_ms.subarray(all.gap_offset[i]!, all.gap_offset[i + 1]!);
    itl.set(row, at);
    at += row.length;
  }
  return {
    ttft_ms: percentiles(keep(all.ttft_ms)),
    itl_ms: percentiles(itl),
    tpot_ms: percentiles(tpot),
    e2e_ms: percentiles(keep(all.e2e_ms)),
    queue_ms: percentiles(keep(all.queue_ms)),
  };
};
