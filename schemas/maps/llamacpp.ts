import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { pick, type SourceMap } from "./source-map.js";

/**
 * llama.cpp's server (`--metrics`). No labels, no histograms, no time to first token. `prompt_tokens_seconds` and
 * `predicted_tokens_seconds` are tokens per second, not seconds. KV usage is gone from newer versions; forks keep it.
 */
export const LLAMACPP_MAP: SourceMap = {
  source: "llamacpp",
  engine: "llamacpp",
  metrics: {
    llamacpp_requests_processing: level("running"),
    llamacpp_requests_deferred: level("waiting"),
    llamacpp_kv_cache_usage_ratio: level("kv_usage_ratio"),
    llamacpp_prompt_tokens_total: total("prompt_tokens_total"),
    llamacpp_tokens_predicted_total: total("generation_tokens_total"),
    llamacpp_prompt_tokens_cached_total: total("prompt_tokens_cached_total"),
    llamacpp_prompt_seconds_total: total("prefill_s_sum_total"),
    llamacpp_tokens_predicted_seconds_total: total("decode_s_sum_total"),
    llamacpp_n_decode_total: total("iteration_tokens_count_total"),
  },
  entity(_kind, labels) {
    const draft = serverDraft("llamacpp", "", labels);
    const model = pick(labels, "model");
    return model === "" ? draft : { ...draft, labels: { ...draft.labels, model } };
  },
  replicas: SERVER_REPLICAS,
  extra_prefix: "llamacpp_",
  extra_kind: "server",
  entity_labels: [...SERVER_LABELS, "model"],
};
