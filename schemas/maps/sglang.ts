import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { histogram, pick, type SourceMap } from "./source-map.js";

const old = { prefer: -1 } as const;
/** With priority scheduling the series with an empty priority is the total of the others. */
const all = { where: { priority: "" } } as const;

/** SGLang 0.3 to 0.5 (`--enable-metrics`), its own `sglang:` names and the router's `sglang_`. */
export const SGLANG_MAP: SourceMap = {
  source: "sglang",
  engine: "sglang",
  metrics: {
    sglang_num_running_reqs: level("running", all),
    sglang_num_queue_reqs: level("waiting", all),
    sglang_num_requests_running: level("running", old),
    sglang_num_requests_waiting: level("waiting", old),
    sglang_token_usage: level("kv_usage_ratio"),
    sglang_max_total_num_tokens: level("kv_capacity_tokens"),
    sglang_cache_config_info: level("kv_capacity_tokens", { ...old, product: ["page_size", "num_pages"] }),
    sglang_num_retracted_requests_total: total("preemptions_total"),
    sglang_num_retracted_reqs: level("retracted"),
    sglang_prompt_tokens_total: total("prompt_tokens_total"),
    sglang_generation_tokens_total: total("generation_tokens_total"),
    sglang_cached_tokens_total: total("prompt_tokens_cached_total", { except: { cache_source: ["total"] } }),
    // A pre-release of 2024-09 printed percent.
    sglang_cache_hit_rate: level("prefix_hit_ratio", { percent_above: 1.0001 }),
    sglang_num_requests_total: total("success_total"),
    sglang_num_aborted_requests_total: total("aborted_total"),
    sglang_gpu_execution_seconds_total: total("gpu_execution_s_total", old),
    sglang_forward_execution_seconds_total: total("gpu_execution_s_total"),
    ...histogram("sglang_time_to_first_token_seconds", "ttft_s"),
    ...histogram("sglang_inter_token_latency_seconds", "itl_s"),
    ...histogram("sglang_time_per_output_token_seconds", "itl_s", old),
    ...histogram("sglang_e2e_request_latency_seconds", "e2e_s"),
    ...histogram("sglang_queue_time_seconds", "queue_s"),
  },
  entity: (_kind, labels) => serverDraft("sglang", pick(labels, "dp_rank"), labels),
  replicas: SERVER_REPLICAS,
  histograms: [
    "sglang_time_to_first_token_seconds",
    "sglang_inter_token_latency_seconds",
    "sglang_time_per_output_token_seconds",
    "sglang_e2e_request_latency_seconds",
    "sglang_queue_time_seconds",
  ],
  extra_prefix: "sglang_",
  extra: (name) => !name.endsWith("_info"),
  extra_kind: "server",
  entity_labels: SERVER_LABELS,
  manifest: { model_name: "model", name: "model" },
};
