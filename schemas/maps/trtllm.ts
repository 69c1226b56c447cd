import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { histogram, type MapRule, pick, type SourceMap } from "./source-map.js";

const capacity = (rule: Partial<MapRule> = {}): MapRule => level("kv_capacity_tokens", { aggregate: "product", ...rule });

/**
 * TensorRT-LLM's Prometheus page: `/prometheus/metrics` of trtllm-serve (`return_perf_metrics: true`), or passed on by Dynamo
 * (`trtllm_`, in early versions `trtllm:`). Its JSON page is the collector `trtllm-iterations`.
 */
export const TRTLLM_MAP: SourceMap = {
  source: "trtllm",
  engine: "trtllm",
  metrics: {
    trtllm_num_requests_running: level("running"),
    trtllm_num_requests_waiting: level("waiting"),
    trtllm_max_num_active_requests: level("max_running"),
    trtllm_kv_cache_utilization: level("kv_usage_ratio"),
    trtllm_kv_cache_max_blocks: capacity(),
    trtllm_kv_cache_tokens_per_block: capacity({ second: true }),
    trtllm_num_paused_requests: level("retracted"),
    trtllm_prompt_tokens_total: total("prompt_tokens_total"),
    trtllm_generation_tokens_total: total("generation_tokens_total"),
    trtllm_prompt_cached_tokens_total: total("prompt_tokens_cached_total"),
    trtllm_kv_cache_hit_rate: level("prefix_hit_ratio"),
    trtllm_request_success_total: [total("success_total"), total("aborted_total", { where: { finished_reason: ["abort", "cancelled"] } })],
    trtllm_request_error_total: total("aborted_total"),
    ...histogram("trtllm_time_to_first_token_seconds", "ttft_s"),
    ...histogram("trtllm_time_per_output_token_seconds", "itl_s"),
    ...histogram("trtllm_e2e_request_latency_seconds", "e2e_s"),
    ...histogram("trtllm_request_queue_time_seconds", "queue_s"),
    ...histogram("trtllm_request_prefill_time_seconds", "prefill_s"),
    ...histogram("trtllm_request_decode_time_seconds", "decode_s"),
    trtllm_iteration_latency_seconds_sum: total("gpu_execution_s_total"),
    trtllm_iteration_latency_seconds_count: total("iteration_tokens_count_total"),
  },
  entity: (_kind, labels) => serverDraft("trtllm", pick(labels, "engine", "dp_rank"), labels),
  replicas: SERVER_REPLICAS,
  histograms: [
    "trtllm_time_to_first_token_seconds",
    "trtllm_time_per_output_token_seconds",
    "trtllm_e2e_request_latency_seconds",
    "trtllm_request_queue_time_seconds",
    "trtllm_request_prefill_time_seconds",
    "trtllm_request_decode_time_seconds",
    "trtllm_iteration_latency_seconds",
  ],
  extra_prefix: "trtllm_",
  extra: (name) => !name.endsWith("_info"),
  extra_kind: "server",
  entity_labels: SERVER_LABELS,
  manifest: { model_name: "model" },
};
