import type { ResourceClass } from "../../schemas/report.js";
import { GPUS, type GpuName, MODELS, type ModelName } from "./hardware.js";

export interface ServerOptions {
  readonly gpu: GpuName;
  readonly model: ModelName;
  /** Tensor-parallel size; the server uses the first `tp` GPUs of the node. */
  readonly tp: number;
  /** Size of the KV pool; null = what memory leaves at 90 % utilisation. */
  readonly kv_tokens: number | null;
  readonly max_num_seqs: number;
  readonly max_batched_tokens: number;
  readonly chunked_prefill: boolean;
}

export interface Workload {
  readonly rate_per_s: number;
  readonly prompt_median: number;
  readonly prompt_sigma: number;
  readonly output_median: number;
  readonly output_sigma: number;
}

/**
 * What may go wrong and what its magnitude means.
 *
 * | kind | magnitude |
 * |---|---|
 * | arrival_burst | multiple of the arrival rate |
 * | long_prompts | tokens of one long prompt; `rate_per_s` of them arrive |
 * | thermal | SM clock that is left, share |
 * | bw_cotenant | share of the DRAM bandwidth that another tenant takes |
 * | context_growth | sessions of 8k cached context that decode along |
 * | kv_full | share of the KV pool that parked sessions hold |
 * | cpu_tokenize | factor on the cost of tokenising |
 * | cpu_throttle | share of each CFS period in which the container runs |
 * | link_degraded | share of the link bandwidth that is left |
 * | straggler | milliseconds that one rank is late, each step |
 */
export const FAULTS = {
  arrival_burst: { class: "compute", cause: "burst-saturation" },
  long_prompts: { class: "compute", cause: "prefill-interference" },
  thermal: { class: "compute", cause: "thermal" },
  bw_cotenant: { class: "bandwidth", cause: "shared-gpu" },
  context_growth: { class: "bandwidth", cause: "long-context" },
  kv_full: { class: "kv_cache", cause: "admission-blocked" },
  cpu_tokenize: { class: "cpu_tokenization", cause: "tokenize" },
  cpu_throttle: { class: "cpu_tokenization", cause: "cgroup-quota" },
  link_degraded: { class: "communication", cause: "link-saturated" },
  straggler: { class: "communication", cause: "straggler" },
} as const satisfies Record<string, { class: ResourceClass; cause: string }>;
export type FaultKind = keyof typeof FAULTS;

/** Times in µs since the start of the simulation. */
export interface Fault {
  readonly kind: FaultKind;
  readonly start_us: number;
  readonly end_us: number;
  readonly magnitude: number;
  /** One rank only (thermal, straggler); absent = all, for straggler the last. */
  readonly rank?: number;
  /** Injected requests per second (long_prompts). */
  readonly rate_per_s?: number;
}

export interface Scenario {
  readonly seed: number;
  /** When the workload begins, µs; absent = at once, Infinity = when it is told to. */
  readonly start_us?: number;
  readonly server: ServerOptions;
  readonly workload: Workload;
  readonly faults: readonly Fault[];
}

export const DEFAULT_SERVER: ServerOptions = {
  gpu: "h100",
  model: "llama-3.1-8b",
  tp: 1,
  kv_tokens: null,
  max_num_seqs: 256,
  max_batched_tokens: 2048,
  chunked_prefill: true,
};

/** About a quarter of what reference server A can take. */
export const DEFAULT_WORKLOAD: Workload = {
  rate_per_s: 6,
  prompt_median: 800,
  prompt_sigma: 0.6,
  output_median: 160,
  output_sigma: 0.5,
};

export const KV_BLOCK_TOKENS = 16;

/** Blocks of the KV pool. */
export function kvBlocks(server: ServerOptions): number {
  const gpu = GPUS[server.gpu];
  const model = MODELS[server.model];
  if (server.kv_tokens !== null) return Math.floor(server.kv_tokens / KV_BLOCK_TOKENS);
  const free = gpu.fb_mib * 1024 * 1024 * 0.9 - (model.params * 2) / server.tp - 3e9;
  return Math.max(1, Math.floor(free / (model.kv_bytes_per_token / server.tp) / KV_BLOCK_TOKENS));
}

/** Names of the pod that the node's server runs in. */
export const POD = { pod: "llm-0", namespace: "llm", container: "inference", host: "node-a" } as const;
