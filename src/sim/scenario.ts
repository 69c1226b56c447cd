import type { VerdictClass } from "../../schemas/report.js";
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
  /** The ranks sit on two nodes, joined by a 400 Gb/s fabric. */
  readonly fabric?: true;
  /** Prompts are computed by another instance; their KV comes over a NIC of this speed before decoding begins, bytes/s. */
  readonly pd_nic_bytes_per_s?: number;
  /** Finished contexts stay in the pool while it is not needed otherwise: usage always reads full. */
  readonly kv_tier?: true;
  /** A second data-parallel rank on the next GPU: each step waits for both (mixture of experts). */
  readonly dp_peer?: true;
}

export interface Workload {
  readonly rate_per_s: number;
  readonly prompt_median: number;
  readonly prompt_sigma: number;
  readonly output_median: number;
  readonly output_sigma: number;
  /** Share of every prompt that the prefix cache holds. */
  readonly cached_share?: number;
  /** The rate changes linearly to this one at `ramp_s`. */
  readonly rate_end_per_s?: number;
  readonly ramp_s?: number;
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
 * | context_growth | sessions of `prompt_tokens` (8k) cached context that decode along |
 * | kv_full | share of the KV pool that parked sessions hold |
 * | cpu_tokenize | factor on the cost of tokenising |
 * | cpu_throttle | share of each CFS period in which the container runs |
 * | link_degraded | share of the link bandwidth that is left |
 * | straggler | milliseconds that one rank is late, each step |
 * | power_cap | SM clock that the cap leaves, share |
 * | gpu_cotenant | share of the GPU's time that another tenant's kernels take |
 * | batch_growth | sequences of short context that decode along, more and more of them |
 * | kv_sessions | sessions of `prompt_tokens` cached context that decode along and hold the pool |
 * | long_outputs | multiple of the arrival rate, of requests with outputs of 1,500 tokens |
 * | prefix_thrash | share of the cached prompt tokens that still hit |
 * | agent_burst | requests per second with a `prompt_tokens` prompt that is nearly all cached |
 * | launch | factor on the CPU work before each step's kernels |
 * | topology_fallback | share of the PCIe bandwidth over which all-reduces run instead of NVLink |
 * | fabric_congestion | share of the fabric's bandwidth that is left |
 * | pd_transfer | share of the NIC's bandwidth that is left for KV transfer |
 * | hot_expert | milliseconds that one rank computes longer, each step |
 * | remote_prefill | tokens of one prompt on the other data-parallel rank; `rate_per_s` of them arrive |
 * | admission_limit | multiple of the arrival rate, against a small `max_num_seqs` |
 * | pause | all of the server's processes stand still (collection, lock); magnitude 1 |
 * | restart | the server starts anew and loads its weights; magnitude 1 |
 * | warm_up | milliseconds that each step takes longer (graph capture) |
 * | client_network | share of the clients whose answers are held back on the way |
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
  power_cap: { class: "compute", cause: "power-cap" },
  gpu_cotenant: { class: "indeterminate", cause: "shared-gpu" },
  batch_growth: { class: "bandwidth", cause: "batch-growth" },
  kv_sessions: { class: "kv_cache", cause: "admission-blocked" },
  long_outputs: { class: "kv_cache", cause: "preemption-storm" },
  prefix_thrash: { class: "kv_cache", cause: "prefix-thrash" },
  agent_burst: { class: "cpu_tokenization", cause: "tokenize" },
  launch: { class: "cpu_tokenization", cause: "launch" },
  topology_fallback: { class: "communication", cause: "topology-fallback" },
  fabric_congestion: { class: "communication", cause: "fabric-congestion" },
  pd_transfer: { class: "communication", cause: "pd-kv-transfer" },
  hot_expert: { class: "communication", cause: "straggler" },
  remote_prefill: { class: "compute", cause: "prefill-interference-remote-rank" },
  admission_limit: { class: "indeterminate", cause: "admission-limit" },
  pause: { class: "indeterminate", cause: "pause" },
  restart: { class: "indeterminate", cause: "restart-or-load" },
  warm_up: { class: "indeterminate", cause: "warm-up" },
  client_network: { class: "indeterminate", cause: "client-network" },
} as const satisfies Record<string, { class: VerdictClass; cause: string }>;
export type FaultKind = keyof typeof FAULTS;

/** Times in µs since the start of the simulation. */
export interface Fault {
  readonly kind: FaultKind;
  readonly start_us: number;
  readonly end_us: number;
  readonly magnitude: number;
  /** One rank only (thermal, power_cap, straggler, hot_expert); absent = all, for straggler and hot_expert the last. */
  readonly rank?: number;
  /** Injected requests per second (long_prompts, remote_prefill). */
  readonly rate_per_s?: number;
  /** Prompt of an injected request (context_growth, kv_sessions, agent_burst). */
  readonly prompt_tokens?: number;
  /** Time per token by which outputs are sized that shall end with the fault, µs; absent = 25 ms. */
  readonly token_us?: number;
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
