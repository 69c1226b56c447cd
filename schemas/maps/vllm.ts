import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { histogram, pick, type SourceMap } from "./source-map.js";

const old = { prefer: -1 } as const;

/**
 * vLLM, V0 (to 0.10) and V1 (from 0.8). `vllm:`, `vllm_` (OpenTelemetry receivers) and `ray_vllm_` (Ray Serve) are one.
 * Breakdowns (`…_by_reason`, `…_by_source`) are parts of a number that is printed as well: kept aside, never added.
 */
export const VLLM_MAP: SourceMap = {
  source: "vllm",
  engine: "vllm",
  metrics: {
    vllm_num_requests_running: level("running"),
    vllm_num_requests_waiting: level("waiting"),
    vllm_num_requests_swapped: level("swapped"),
    vllm_kv_cache_usage_perc: level("kv_usage_ratio"),
    vllm_gpu_cache_usage_perc: level("kv_usage_ratio", old),
    vllm_cache_config_info: level("kv_capacity_tokens", { product: ["block_size", "num_gpu_blocks"] }),
    vllm_num_preemptions_total: total("preemptions_total"),
    vllm_prompt_tokens_total: total("prompt_tokens_total"),
    vllm_generation_tokens_total: total("generation_tokens_total"),
    vllm_prompt_tokens_cached_total: total("prompt_tokens_cached_total"),
    vllm_prefix_cache_queries_total: total("prefix_queries_total"),
    vllm_prefix_cache_hits_total: total("prefix_hits_total"),
    vllm_gpu_prefix_cache_queries_total: total("prefix_queries_total", old),
    vllm_gpu_prefix_cache_hits_total: total("prefix_hits_total", old),
    vllm_gpu_prefix_cache_hit_rate: level("prefix_hit_ratio"),
    vllm_request_success_total: [total("success_total"), total("aborted_total", { where: { finished_reason: "abort" } })],
    ...histogram("vllm_time_to_first_token_seconds", "ttft_s"),
    ...histogram("vllm_inter_token_latency_seconds", "itl_s"),
    // The older name of the same inter-token times; 0.11 prints both.
    ...histogram("vllm_time_per_output_token_seconds", "itl_s", old),
    ...histogram("vllm_e2e_request_latency_seconds", "e2e_s"),
    ...histogram("vllm_request_queue_time_seconds", "queue_s"),
    ...histogram("vllm_request_prefill_time_seconds", "prefill_s"),
    ...histogram("vllm_request_decode_time_seconds", "decode_s"),
    ...histogram("vllm_iteration_tokens_total", "iteration_tokens"),
    vllm_spec_decode_num_draft_tokens_total: total("spec_draft_tokens_total"),
    vllm_spec_decode_num_accepted_tokens_total: total("spec_accepted_tokens_total"),
    vllm_estimated_flops_per_gpu_total: total("estimated_flops_total"),
    vllm_estimated_read_bytes_per_gpu_total: total("estimated_read_bytes_total"),
    vllm_estimated_write_bytes_per_gpu_total: total("estimated_write_bytes_total"),
    vllm_nixl_xfer_time_seconds_sum: total("kv_transfer_s_sum_total"),
    vllm_nixl_bytes_transferred_sum: total("kv_transfer_bytes_total"),
  },
  entity: (_kind, labels) => serverDraft("vllm", pick(labels, "engine", "dp_rank"), labels),
  replicas: SERVER_REPLICAS,
  histograms: [
    "vllm_time_to_first_token_seconds",
    "vllm_inter_token_latency_seconds",
    "vllm_time_per_output_token_seconds",
    "vllm_e2e_request_latency_seconds",
    "vllm_request_queue_time_seconds",
    "vllm_request_prefill_time_seconds",
    "vllm_request_decode_time_seconds",
    "vllm_iteration_tokens_total",
  ],
  extra_prefix: "vllm_",
  // Configuration in labels; the list of LoRA adapters is the one that changes with the load.
  extra: (name) => !name.endsWith("_info") || name === "vllm_lora_requests_info",
  extra_kind: "server",
  entity_labels: SERVER_LABELS,
  manifest: { model_name: "model" },
};
