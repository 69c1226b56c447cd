import type { EpisodeContext, FactReading } from "./episode-context.js";

/** Shares of the excess that the load explains above and below which the driver is clear. */
const WORKLOAD = 0.6;
const DEGRADATION = 0.3;
/** Facts that show something that is not as it should be, and facts that show demand. */
const DEGRADED = [
  "throttle",
  "cg_throttle",
  "psi",
  "cpu_steal",
  "cpu_growth",
  "busy_unproductive",
  "smi_spin",
  "link_downgraded",
  "rank_imbalance",
  "congestion",
  "shared_gpu",
];
const DEMAND = ["prefill_surge", "arrival_surge", "batch_surge", "prefill_dose", "kv_full"];

type Driver = "workload" | "degradation" | "mixed";

/** Share of a slow decode that the load-conditional step model explains; NaN where it cannot be fitted. */
const explainedDecode = (ctx: EpisodeContext): number => {
  const model = ctx.stepModel;
  if (model === null) return Number.NaN;
  const usual = ctx.detection.metrics.find((m) => m.metric === "tpot")!;
  let sum = 0;
  let n = 0;
  for (const i of ctx.incident.rows) {
    const y = ctx.q.tpot[i]!;
    const intrinsic = Math.log(y / usual.expected[i]!);
    if (!(intrinsic > 0.2)) continue;
    sum += 1 - Math.log(y / model[i]!) / intrinsic;
    n++;
  }
  return n < 3 ? Number.NaN : sum / n;
};

/** Whether demand or a defect drove the incident; null when neither shows. */
export const driverOf = (ctx: EpisodeContext, readings: readonly FactReading[]): Driver | null => {
  const top = (names: readonly string[]) =>
    Math.max(0, ...readings.filter((r) => names.includes(r.fact)).map((r) => r.strength * r.quality));
  const degraded = top(DEGRADED);
  const demand = top(DEMAND);
  if ((ctx.phases.decode ?? 0) >= 0.5 && degraded < 0.3) {
    const explained = explainedDecode(ctx);
    if (explained >= WORKLOAD) return "workload";
    // A batch that grew with its arrivals is demand, however badly the step model fits.
    if (explained <= DEGRADATION) return demand >= 0.3 ? "mixed" : "degradation";
    if (!Number.isNaN(explained)) return "mixed";
  }
  if (degraded >= 0.3) return demand >= 0.6 ? "mixed" : "degradation";
  return demand >= 0.3 ? "workload" : null;
};
