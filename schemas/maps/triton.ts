import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { known, type MapRule, pick, type SourceMap } from "./source-map.js";

/** The steps of an ensemble count each request again, so models are never added up: the busiest one counts. */
const busiest = (column: string, scale: number, rule: Partial<MapRule> = {}): MapRule =>
  total(column, { scale, aggregate: "max", ...rule });
const MICRO = 1e-6;

const requests = (type: string, column: string): MapRule => level(column, { where: { request_type: type } });
const blocks = (type: string, column: string, rule: Partial<MapRule>): MapRule =>
  level(column, { where: { kv_cache_block_type: type }, ...rule });
const gpu = (column: string): MapRule => ({ kind: "gpu", column });

/**
 * NVIDIA Triton (port 8002): counters without `_total`, durations as cumulative microseconds, and the TensorRT-LLM back-end's
 * families, which carry the quantity in a label. vLLM's own metrics on the same page are vLLM's map.
 */
export const TRITON_MAP: SourceMap = {
  source: "triton",
  engine: "triton",
  metrics: {
    nv_trt_llm_request_metrics: [
      requests("scheduled", "running"),
      level("waiting", { where: { request_type: "waiting" }, prefer: 1 }),
      requests("max", "max_running"),
    ],
    nv_trt_llm_kv_cache_block_metrics: [
      blocks("used", "kv_usage_ratio", { aggregate: "quotient", prefer: 1 }),
      blocks("max", "kv_usage_ratio", { aggregate: "quotient", second: true, prefer: 1 }),
      blocks("fraction", "kv_usage_ratio", {}),
      blocks("max", "kv_capacity_tokens", { aggregate: "product" }),
      blocks("tokens_per", "kv_capacity_tokens", { aggregate: "product", second: true }),
    ],
    nv_inference_pending_request_count: level("waiting"),
    nv_inference_request_success: [busiest("success_total", 1), busiest("e2e_count_total", 1), busiest("queue_count_total", 1)],
    nv_inference_request_failure: busiest("aborted_total", 1),
    nv_inference_request_duration_us: busiest("e2e_s_sum_total", MICRO),
    nv_inference_queue_duration_us: busiest("queue_s_sum_total", MICRO),
    // The summary's two totals belong together, so they are taken together.
    nv_inference_queue_summary_us_sum: busiest("queue_s_sum_total", MICRO, { prefer: 1 }),
    nv_inference_queue_summary_us_count: busiest("queue_count_total", 1, { prefer: 1 }),
    nv_inference_first_response_histogram_ms_sum: busiest("ttft_s_sum_total", 1e-3),
    nv_inference_first_response_histogram_ms_count: busiest("ttft_count_total", 1),
    nv_gpu_utilization: gpu("gpu_util_ratio"),
    nv_gpu_memory_total_bytes: gpu("fb_total_bytes"),
    nv_gpu_memory_used_bytes: gpu("fb_used_bytes"),
    nv_gpu_power_usage: gpu("power_w"),
    nv_energy_consumption: gpu("energy_j_total"),
  },
  entity(kind, labels) {
    const uuid = pick(labels, "gpu_uuid");
    if (kind === "gpu") return uuid === "" ? null : { key: uuid, labels: known({ pod: pick(labels, "exported_pod", "pod") }) };
    return serverDraft("triton", "", labels);
  },
  replicas: [...SERVER_REPLICAS, "version"],
  extra_prefix: "nv_",
  extra: (name) => /^nv_(inference|trt_llm|model|cache)_/.test(name),
  extra_kind: "server",
  entity_labels: SERVER_LABELS.filter((label) => label !== "name"),
};
