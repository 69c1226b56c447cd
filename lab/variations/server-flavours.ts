import type { InferenceNode } from "../../src/sim/inference-node.js";
import { type Family, pythonFloat, type Reading } from "../metric-family.js";
import type { Engine } from "./variation.js";

/** What any engine's page says of one scheduler. */
export interface ServerLevels {
  readonly running: number;
  readonly waiting: number;
  readonly kv_usage: number;
  readonly kv_tokens: number;
  readonly preemptions: number;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly generation_tokens: number;
  readonly success: number;
  readonly steps: number;
  readonly start_s: number;
  readonly cpu_s: number;
}

/** A finished context that stays in the pool leaves this share free. */
const TIER_USAGE = 0.982;
/** Simulated time at which the first process started, seconds. */
const FIRST_START_S = -600;

/** Levels at `node.now_us`; null while the process is down. */
export function serverLevels(node: InferenceNode, epoch_us: number): ServerLevels | null {
  const last = node.restarts.at(-1);
  if (last && node.now_us < last.up_us) return null;
  const { scheduler, counters: c, scenario } = node;
  const zero = last?.counters;
  return {
    running: scheduler.running.length,
    waiting: scheduler.waiting.length,
    kv_usage: scenario.server.kv_tier ? Math.max(TIER_USAGE, scheduler.kv.usage) : scheduler.kv.usage,
    kv_tokens: scheduler.kv.total * 16,
    preemptions: scheduler.preemptions - (last?.preemptions ?? 0),
    prompt_tokens: c.prompt_tokens - (zero?.prompt_tokens ?? 0),
    cached_tokens: c.cached_tokens - (zero?.cached_tokens ?? 0),
    generation_tokens: c.generation_tokens - (zero?.generation_tokens ?? 0),
    success: c.success - (zero?.success ?? 0),
    steps: c.steps - (zero?.steps ?? 0),
    start_s: epoch_us / 1e6 + (last ? last.up_us / 1e6 : FIRST_START_S),
    cpu_s: 11 + node.front.cpu.integral(0, node.now_us) / 1e6,
  };
}

type Kind = "gauge" | "counter";
type Line = readonly [name: string, type: Kind, value: number];

const VLLM = (l: ServerLevels): Line[] => [
  ["vllm:num_requests_running", "gauge", l.running],
  ["vllm:num_requests_waiting", "gauge", l.waiting],
  ["vllm:kv_cache_usage_perc", "gauge", l.kv_usage],
  ["vllm:prefix_cache_queries_total", "counter", l.prompt_tokens],
  ["vllm:prefix_cache_hits_total", "counter", l.cached_tokens],
  ["vllm:num_preemptions_total", "counter", l.preemptions],
  ["vllm:prompt_tokens_total", "counter", l.prompt_tokens],
  ["vllm:generation_tokens_total", "counter", l.generation_tokens],
  ["vllm:request_success_total", "counter", l.success],
  ["vllm:iteration_tokens_total_sum", "counter", l.prompt_tokens - l.cached_tokens + l.generation_tokens],
  ["vllm:iteration_tokens_total_count", "counter", l.steps],
];
const VLLM_V0 = (l: ServerLevels): Line[] => [
  ["vllm:num_requests_running", "gauge", l.running],
  ["vllm:num_requests_waiting", "gauge", l.waiting],
  ["vllm:gpu_cache_usage_perc", "gauge", l.kv_usage],
  ["vllm:num_preemptions_total", "counter", l.preemptions],
  ["vllm:prompt_tokens_total", "counter", l.prompt_tokens],
  ["vllm:generation_tokens_total", "counter", l.generation_tokens],
  ["vllm:request_success_total", "counter", l.success],
];
const SGLANG = (l: ServerLevels): Line[] => [
  ["sglang:num_running_reqs", "gauge", l.running],
  ["sglang:num_queue_reqs", "gauge", l.waiting],
  ["sglang:token_usage", "gauge", l.kv_usage],
  ["sglang:max_total_num_tokens", "gauge", l.kv_tokens],
  ["sglang:num_retracted_requests_total", "counter", l.preemptions],
  ["sglang:prompt_tokens_total", "counter", l.prompt_tokens],
  ["sglang:cached_tokens_total", "counter", l.cached_tokens],
  ["sglang:generation_tokens_total", "counter", l.generation_tokens],
  ["sglang:num_requests_total", "counter", l.success],
];
const LINES: Readonly<Record<Engine, (l: ServerLevels) => Line[]>> = { vllm: VLLM, "vllm-v0": VLLM_V0, sglang: SGLANG };

/** The page of the server `pod` as its engine names things; a peer rank shows its own prompt tokens. */
export function serverFamilies(node: InferenceNode, engine: Engine, pod: string, epoch_us: number): Family[] {
  const levels = serverLevels(node, epoch_us);
  if (!levels) return [];
  const place = { namespace: "llm", pod };
  const model = node.scenario.server.model;
  const labelled = (rank: number): Record<string, string> =>
    engine === "sglang"
      ? { model_name: model, engine_type: "unified", tp_rank: "0", ...(rank > 0 ? { dp_rank: String(rank) } : {}), ...place }
      : engine === "vllm"
        ? { engine: String(rank), model_name: model, ...place }
        : { model_name: model, ...place };
  const families = LINES[engine](levels).map(([name, type, value]): Family => {
    const extra: Record<string, string> = name.endsWith("request_success_total") ? { finished_reason: "stop" } : {};
    const samples: Reading[] = [{ labels: { ...labelled(0), ...extra }, value: pythonFloat(value) }];
    if (node.scenario.server.dp_peer) {
      const peer = /prompt_tokens|iteration_tokens_total_sum/.test(name) ? value + node.peer_prompt_tokens : value;
      samples.push({ labels: { ...labelled(1), ...extra }, value: pythonFloat(peer) });
    }
    return { name, help: "", type, samples };
  });
  const own = (name: string, type: Kind, value: number): Family => ({
    name,
    help: "",
    type,
    samples: [{ labels: place, value: pythonFloat(value) }],
  });
  return [
    ...families,
    own("process_start_time_seconds", "gauge", levels.start_s),
    own("process_cpu_seconds_total", "counter", levels.cpu_s),
  ];
}
