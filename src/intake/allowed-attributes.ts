/**
 * The only attributes that are ever kept: everything else, prompts, completions and headers above all, is dropped while decoding.
 * Sources: vLLM tracing attributes, SGLang tracing, OpenTelemetry GenAI semantic conventions.
 */
export const SPAN_ATTRIBUTES: ReadonlySet<string> = new Set([
  "gen_ai.request.id",
  "gen_ai.request.model",
  "gen_ai.request.max_tokens",
  "gen_ai.request.n",
  "gen_ai.response.id",
  "gen_ai.response.model",
  "gen_ai.response.finish_reasons",
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.system",
  "gen_ai.conversation.id",
  "gen_ai.usage.prompt_tokens",
  "gen_ai.usage.completion_tokens",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.cached_tokens",
  "gen_ai.usage.cache_read.input_tokens",
  "gen_ai.latency.time_to_first_token",
  "gen_ai.latency.e2e",
  "gen_ai.latency.time_in_queue",
  "gen_ai.latency.time_in_model_prefill",
  "gen_ai.latency.time_in_model_decode",
  "gen_ai.latency.time_in_model_inference",
  "server.address",
  "server.port",
  "error.type",
  "rid",
  "module",
]);

export const RESOURCE_ATTRIBUTES: ReadonlySet<string> = new Set([
  "service.name",
  "service.namespace",
  "service.instance.id",
  "k8s.pod.name",
  "k8s.namespace.name",
  "k8s.node.name",
  "server.address",
  "server.port",
]);

/** Longest text kept of one attribute, in characters: ids and names are short, so a longer value is no id. */
export const MAX_ATTRIBUTE_CHARS = 512;
