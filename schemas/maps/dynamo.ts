import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { histogram, type Labels, type MapRule, pick, type SourceMap } from "./source-map.js";

/** A worker serves several endpoints; the one that generates is the busiest. */
const busiest = { aggregate: "max", prefer: -1 } as const;
const running = (rule: Partial<MapRule> = {}): MapRule => level("running", { aggregate: "difference", ...rule });
const capacity = (rule: Partial<MapRule> = {}): MapRule => level("kv_capacity_tokens", { aggregate: "product", ...rule });

/**
 * NVIDIA Dynamo: the front end (`dynamo_frontend_*`, label `model`) and its workers (`dynamo_component_*`). The front end's queue
 * holds a request until its first token, prefill included, so it is not `waiting`; requests beyond it are those that decode. The
 * engines' own metrics on a worker's page are the engines' maps. Series appear with the first request.
 */
export const DYNAMO_MAP: SourceMap = {
  source: "dynamo",
  engine: "dynamo",
  metrics: {
    dynamo_frontend_inflight_requests: running(),
    dynamo_frontend_active_requests: running(),
    dynamo_frontend_queued_requests: running({ second: true }),
    dynamo_frontend_model_max_num_seqs: level("max_running"),
    dynamo_frontend_model_total_kv_blocks: capacity(),
    dynamo_frontend_model_kv_cache_block_size: capacity({ second: true }),
    dynamo_frontend_requests_total: [
      total("success_total", { except: { status: ["error"] } }),
      total("aborted_total", { where: { status: "error" } }),
    ],
    dynamo_frontend_input_sequence_tokens_sum: total("prompt_tokens_total"),
    dynamo_frontend_output_tokens_total: total("generation_tokens_total"),
    dynamo_frontend_output_sequence_tokens_sum: total("generation_tokens_total", { prefer: -1 }),
    dynamo_frontend_cached_tokens_sum: total("prompt_tokens_cached_total"),
    ...histogram("dynamo_frontend_time_to_first_token_seconds", "ttft_s"),
    ...histogram("dynamo_frontend_inter_token_latency_seconds", "itl_s"),
    ...histogram("dynamo_frontend_request_duration_seconds", "e2e_s"),
    dynamo_component_inflight_requests: level("running", { prefer: -1 }),
    dynamo_component_requests_total: total("success_total", busiest),
    dynamo_component_errors_total: total("aborted_total", { prefer: -1 }),
    ...histogram("dynamo_component_request_duration_seconds", "e2e_s", busiest),
    // To 0.7. Percent in the name only: 0 to 1.
    dynamo_component_kvstats_gpu_cache_usage_percent: level("kv_usage_ratio"),
    dynamo_component_kvstats_gpu_prefix_cache_hit_rate: level("prefix_hit_ratio"),
  },
  entity(_kind, labels: Labels, metric) {
    const component = metric.startsWith("dynamo_component_") ? pick(labels, "dynamo_component", "component") || "component" : "";
    const draft = serverDraft("dynamo", component, labels);
    const model = pick(labels, "model");
    return model === "" ? draft : { ...draft, labels: { ...draft.labels, model } };
  },
  replicas: SERVER_REPLICAS,
  histograms: [
    "dynamo_frontend_time_to_first_token_seconds",
    "dynamo_frontend_inter_token_latency_seconds",
    "dynamo_frontend_request_duration_seconds",
    "dynamo_component_request_duration_seconds",
  ],
  extra_prefix: "dynamo_",
  extra: (name) => !name.endsWith("_info"),
  extra_kind: "server",
  entity_labels: [...SERVER_LABELS, "model", "dynamo_namespace", "dynamo_component"],
  manifest: { model: "model" },
};
