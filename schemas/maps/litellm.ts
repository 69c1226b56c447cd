import { level, SERVER_REPLICAS, serverDraft, total } from "./server-map.js";
import { histogram, type SourceMap } from "./source-map.js";

/** Where a proxy runs. */
const PLACE: readonly string[] = [
  ...["pod", "exported_pod", "namespace", "exported_namespace", "container", "exported_container"],
  ...["instance", "exported_instance", "node"],
];

/**
 * LiteLLM's proxy (`/metrics/`, port 4000): the gateway's view. Its labels name keys, teams and users: they only tell series apart
 * while these are added up, and no series is kept beside the columns, so that no label of a person is stored.
 */
export const LITELLM_MAP: SourceMap = {
  source: "litellm",
  engine: "litellm",
  metrics: {
    litellm_in_flight_requests: level("running"),
    litellm_proxy_total_requests_metric_total: total("success_total"),
    litellm_proxy_failed_requests_metric_total: total("aborted_total"),
    litellm_input_tokens_metric_total: total("prompt_tokens_total"),
    litellm_output_tokens_metric_total: total("generation_tokens_total"),
    ...histogram("litellm_llm_api_time_to_first_token_metric", "ttft_s"),
    ...histogram("litellm_deployment_latency_per_output_token", "itl_s"),
    ...histogram("litellm_request_total_latency_metric", "e2e_s"),
    ...histogram("litellm_request_queue_time_seconds", "queue_s"),
  },
  entity: (_kind, labels) =>
    serverDraft("litellm", "", Object.fromEntries(Object.entries(labels).filter(([name]) => PLACE.includes(name)))),
  replicas: SERVER_REPLICAS,
};
