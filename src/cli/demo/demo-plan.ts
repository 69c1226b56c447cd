import type { LabOptions } from "../../../lab/lab-node.js";
import type { FaultRequest } from "../../../lab/live-node.js";

export const MIN_SECONDS = 60;
export const MAX_SECONDS = 600;
export const DEFAULT_SECONDS = 90;

/** One small model over two GPUs, so that all five resources can run short on the same server. */
export const DEMO_LAB: LabOptions = {
  seed: 7,
  dcgm_collect_ms: 500,
  gpus: 2,
  hold: true,
  server: { gpu: "h100", model: "llama-3.1-8b", tp: 2, kv_tokens: 250_000 },
  workload: { rate_per_s: 8, prompt_median: 600, prompt_sigma: 0.4, output_median: 130 },
};

/** Shares of the run: quiet at the start, then five slots, each begun by a fault and long enough to recover from it. */
const LEAD = 0.16;
const SLOT = 0.16;
const FAULT = 0.056;
/** A fault that lasts longer than this leaves a queue that does not drain before the next one. */
const MAX_FAULT_S = 8;

const KINDS: readonly Pick<FaultRequest, "kind" | "magnitude" | "rate_per_s">[] = [
  { kind: "long_prompts", magnitude: 14_000, rate_per_s: 3.4 },
  { kind: "bw_cotenant", magnitude: 0.85 },
  { kind: "kv_full", magnitude: 0.985 },
  { kind: "cpu_tokenize", magnitude: 100 },
  { kind: "link_degraded", magnitude: 0.01 },
];

/** The five faults of a run of `seconds`, one a class, none overlapping; together at most 28 % of the time. Times count from now. */
export function planFaults(seconds: number): FaultRequest[] {
  return KINDS.map((kind, i) => ({ ...kind, in_s: seconds * (LEAD + SLOT * i), for_s: Math.min(seconds * FAULT, MAX_FAULT_S) }));
}
