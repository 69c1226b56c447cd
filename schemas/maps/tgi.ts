import { level, SERVER_LABELS, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { histogram, pick, type SourceMap } from "./source-map.js";

/** The adapter of TGI's metrics on vLLM prints the label as Python prints a dictionary. */
const step = (method: string) => ({ where: { method: [method, `{'method': '${method}'}`] } }) as const;

/**
 * Hugging Face TGI 2 and 3. Counters without `_total`, no model label, no KV usage, no time to first token. The sums of the size
 * histograms are the token totals. A prefill step's time is that of the requests in it; a decode step's is not a request's.
 */
export const TGI_MAP: SourceMap = {
  source: "tgi",
  engine: "tgi",
  metrics: {
    tgi_batch_current_size: level("running"),
    tgi_queue_size: level("waiting"),
    tgi_request_input_length_sum: total("prompt_tokens_total"),
    tgi_request_generated_tokens_sum: total("generation_tokens_total"),
    tgi_request_success: total("success_total"),
    tgi_request_failure: total("aborted_total"),
    ...histogram("tgi_request_duration", "e2e_s"),
    ...histogram("tgi_request_queue_duration", "queue_s"),
    ...histogram("tgi_batch_inference_duration", "prefill_s", step("prefill")),
    // One value a finished request: its mean.
    ...histogram("tgi_request_mean_time_per_token_duration", "itl_s"),
    tgi_batch_inference_count: total("iteration_tokens_count_total"),
    tgi_batch_forward_duration_sum: total("gpu_execution_s_total"),
  },
  entity: (_kind, labels) => serverDraft("tgi", pick(labels, "engine", "dp_rank"), labels),
  replicas: SERVER_REPLICAS,
  histograms: [
    "tgi_request_duration",
    "tgi_request_validation_duration",
    "tgi_request_queue_duration",
    "tgi_request_inference_duration",
    "tgi_request_mean_time_per_token_duration",
    "tgi_batch_inference_duration",
    "tgi_batch_forward_duration",
    "tgi_batch_decode_duration",
  ],
  extra_prefix: "tgi_",
  extra_kind: "server",
  entity_labels: SERVER_LABELS,
};
