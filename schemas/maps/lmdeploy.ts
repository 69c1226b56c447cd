import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { histogram, pick, type SourceMap } from "./source-map.js";

const old = { prefer: -1 } as const;

/** LMDeploy (`--enable-metrics`, port 23333): vLLM's words under its own prefix; `engine` is the data-parallel rank. */
export const LMDEPLOY_MAP: SourceMap = {
  source: "lmdeploy",
  engine: "lmdeploy",
  metrics: {
    lmdeploy_num_requests_running: level("running"),
    lmdeploy_num_requests_waiting: level("waiting"),
    lmdeploy_gpu_cache_usage_perc: level("kv_usage_ratio"),
    lmdeploy_prompt_tokens_total: total("prompt_tokens_total"),
    lmdeploy_generation_tokens_total: total("generation_tokens_total"),
    lmdeploy_num_requests_finished: total("success_total"),
    lmdeploy_num_requests_failed: total("aborted_total"),
    ...histogram("lmdeploy_time_to_first_token_seconds", "ttft_s"),
    ...histogram("lmdeploy_iter_token_latency", "itl_s"),
    ...histogram("lmdeploy_time_per_output_token_seconds", "itl_s", old),
    ...histogram("lmdeploy_e2e_request_latency_seconds", "e2e_s"),
    ...histogram("lmdeploy_request_queue_time_seconds", "queue_s"),
    ...histogram("lmdeploy_request_prefill_time_seconds", "prefill_s"),
    ...histogram("lmdeploy_request_decode_time_seconds", "decode_s"),
    ...histogram("lmdeploy_iteration_tokens_total", "iteration_tokens"),
  },
  entity: (_kind, labels) => serverDraft("lmdeploy", pick(labels, "engine", "dp_rank"), labels),
  replicas: SERVER_REPLICAS,
  histograms: [
    "lmdeploy_time_to_first_token_seconds",
    "lmdeploy_iter_token_latency",
    "lmdeploy_time_per_output_token_seconds",
    "lmdeploy_e2e_request_latency_seconds",
    "lmdeploy_request_queue_time_seconds",
    "lmdeploy_request_prefill_time_seconds",
    "lmdeploy_request_decode_time_seconds",
    "lmdeploy_iteration_tokens_total",
  ],
  extra_prefix: "lmdeploy_",
  extra: (name) => !name.endsWith("_info"),
  extra_kind: "server",
  entity_labels: SERVER_LABELS,
  manifest: { model_name: "model" },
};
