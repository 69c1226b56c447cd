import { AppError } from "../../schemas/error-codes.js";
import type { DecisionTable, DiagnosisInput, WorkModel } from "../../schemas/index.js";
import { median } from "../core/quantile.js";
import type { GroupContext } from "./episode-context.js";
import { readRun } from "./read-run.js";
import type { TelemetryView } from "./telemetry-view.js";

/** Fewer requests fit no model that another run could be judged by. */
const LEAST_REQUESTS = 30;
/** Ratios of counters that facts read. */
const RATIOS = [
  ["cfs_throttled_periods_total", "cfs_periods_total"],
  ["prefix_hits_total", "prefix_queries_total"],
  ["prompt_tokens_cached_total", "prompt_tokens_total"],
] as const;

const usualReadings = ({ group }: GroupContext, view: TelemetryView): WorkModel["usual"] => {
  const seen = new Map<string, { median: number[]; sd: number[] }>();
  for (const track of [...group.gpus.flat(), ...group.processes.flat(), ...group.hosts, ...group.links.flat(), ...group.servers]) {
    const offer = (name: string, series: ReturnType<TelemetryView["level"]>) => {
      if (series.n === 0) return;
      const usual = view.usual(series);
      if (!Number.isFinite(usual.median)) return;
      const key = `${track.entity.kind}.${name}`;
      const entry = seen.get(key) ?? { median: [], sd: [] };
      entry.median.push(usual.median);
      entry.sd.push(Number.isFinite(usual.sd) ? usual.sd : 0);
      seen.set(key, entry);
    };
    for (const column of Object.keys(track.columns))
      if (column.endsWith("_total")) offer(`rate:${column}`, view.rate(track, column));
      else offer(column, view.level(track, column));
    for (const [over, under] of RATIOS) offer(`${over}/${under}`, view.ratio(track, over, under));
  }
  return Object.fromEntries(
    [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, { median: median(v.median), sd: median(v.sd) }]),
  );
};

/**
 * What requests of a run cost and what its telemetry usually reads, from its undisturbed part: a baseline for other runs of the same
 * service. The server with the most requests is taken. Throws AppError USAGE when the run has too few requests.
 */
export const fitWorkModel = (given: DiagnosisInput, table: DecisionTable): WorkModel => {
  const { found, view } = readRun(given, table);
  const ctx = found.map((f) => f.ctx).sort((a, b) => b.q.n - a.q.n)[0];
  if (ctx === undefined || ctx.q.n < LEAST_REQUESTS)
    throw new AppError("USAGE", `run '${given.run.id}' has too few requests for a baseline: ${ctx?.q.n ?? 0}`, {
      mend: `take a run of at least ${LEAST_REQUESTS} requests of the same service`,
    });
  const { q, detection } = ctx;
  const fitOf = (metric: "ttft" | "e2e" | "tpot" | "itl") => detection.fits.get(metric)!;
  const coefficients = (metric: "ttft" | "e2e") => {
    const { baseline, median: centre } = fitOf(metric);
    return baseline.coefficients === null ? null : [...baseline.coefficients].map((b) => b * Math.exp(centre));
  };
  const usual = (values: Float64Array): number | null => {
    const m = median(Float64Array.from(detection.fitRows, (i) => values[i]!));
    return Number.isFinite(m) ? m : null;
  };
  return {
    run: given.run.id,
    ttft: coefficients("ttft"),
    e2e: coefficients("e2e"),
    ttft_ms: usual(q.ttft),
    e2e_ms: usual(q.e2e),
    tpot_ms: usual(q.tpot),
    itl_ms: usual(q.maxGap),
    sigma: { ttft: fitOf("ttft").sigma, e2e: fitOf("e2e").sigma, tpot: fitOf("tpot").sigma, itl: fitOf("itl").sigma },
    usual: usualReadings(ctx, view),
  };
};
