import type { RequestStatus, RequestView } from "../../schemas/requests.js";
import type { Attributes, DecodedSpan } from "./decoded-span.js";
import { joinId } from "./join-id.js";
import { isAnchored } from "./nanoseconds.js";

/** A span that no importer calls a request is ignored, not refused: gateways and frameworks send many others. */
export type SpanVerdict =
  | { readonly kind: "request"; readonly view: RequestView }
  | { readonly kind: "ignored" }
  | { readonly kind: "rejected"; readonly reason: "clock_not_anchored" };

const IGNORED: SpanVerdict = { kind: "ignored" };

/** GenAI operations that generate tokens; embeddings, tools and agents are something else. */
const GENERATING = new Set(["chat", "text_completion", "generate_content"]);
const SERVER_KIND = 2;
const CLIENT_KIND = 3;
const ERROR_STATUS = 2;
/** vLLM V0 mixed a monotonic and a wall clock in one difference: no phase lasts this long. */
const MAX_PHASE_S = 1e6;
const MAX_TOKENS = 1e8;
/** The engine core's clock and the front end's differ by this much at most within one request, seconds. */
const CLOCK_SLACK_S = 0.001;

/**
 * One decoded span as a request view: vLLM's `llm_request`, SGLang's request root span, and client or server spans of the
 * OpenTelemetry GenAI conventions. Times as the span has them; durations in ms, null where the span does not say.
 */
export function spanToRequest(span: DecodedSpan): SpanVerdict {
  const view = observer(span);
  if (view === null) return IGNORED;
  if (!isAnchored(span.start_us)) return { kind: "rejected", reason: "clock_not_anchored" };
  const a = span.attributes;
  const request_id = text(a, "gen_ai.request.id") ?? text(a, "gen_ai.response.id") ?? text(a, "rid") ?? `${span.trace_id}/${span.span_id}`;
  const e2eS = phase(a, "gen_ai.latency.e2e", null);
  const within = (key: string) => milliseconds(phase(a, key, e2eS));
  const ttft_ms = within("gen_ai.latency.time_to_first_token");
  const e2e_ms = milliseconds(e2eS) ?? (span.end_us - span.start_us) / 1000;
  const model = text(a, "gen_ai.response.model") ?? text(a, "gen_ai.request.model");
  const isSglang = a.module === "sglang::request";
  const status = statusOf(span);
  const request: RequestView = {
    request_id,
    join_id: joinId(request_id, text(a, "gen_ai.request.id") === null ? "response" : "span"),
    view,
    span_key: `${span.trace_id}/${span.span_id}`,
    server: serverOf(span, view, model),
    model,
    scheduled_us: null,
    start_us: span.start_us,
    first_token_us: ttft_ms === null ? null : span.start_us + Math.round(ttft_ms * 1000),
    end_us: e2eS === null ? span.end_us : span.start_us + Math.round(e2eS * 1e6),
    ttft_ms,
    e2e_ms,
    tokenize_ms: null,
    queue_ms: within("gen_ai.latency.time_in_queue"),
    // SGLang counts from the end of dispatch, so its "prefill" contains the queue.
    prefill_ms: isSglang ? null : within("gen_ai.latency.time_in_model_prefill"),
    decode_ms: within("gen_ai.latency.time_in_model_decode"),
    transfer_ms: null,
    input_tokens: tokens(a, "gen_ai.usage.input_tokens") ?? tokens(a, "gen_ai.usage.prompt_tokens"),
    output_tokens: tokens(a, "gen_ai.usage.output_tokens") ?? tokens(a, "gen_ai.usage.completion_tokens"),
    cached_tokens: tokens(a, "gen_ai.usage.cached_tokens") ?? tokens(a, "gen_ai.usage.cache_read.input_tokens"),
    max_tokens: tokens(a, "gen_ai.request.max_tokens"),
    gaps_ms: null,
    status,
    error: status === "ok" ? null : (text(a, "error.type") ?? status),
    warmup: false,
    conversation_id: text(a, "gen_ai.conversation.id"),
    turn_index: null,
    route: view === "client" ? text(span.resource, "service.name") : null,
    task_type: null,
  };
  return { kind: "request", view: request };
}

function observer(span: DecodedSpan): "client" | "server" | null {
  const a = span.attributes;
  if (span.name === "llm_request") return "server";
  if (a.module === "sglang::request") return "server";
  const operation = text(a, "gen_ai.operation.name");
  if (operation === null || !GENERATING.has(operation)) return null;
  return span.kind === CLIENT_KIND ? "client" : span.kind === SERVER_KIND ? "server" : null;
}

/** A server's span tells who it is in its resource; a client's resource is the client's own, so there the span's peer counts. */
function serverOf(span: DecodedSpan, view: "client" | "server", model: string | null): Record<string, string> {
  const server: Record<string, string> = {};
  const put = (key: string, value: string | null) => {
    if (value !== null) server[key] = value;
  };
  if (view === "server") {
    put("pod", text(span.resource, "k8s.pod.name"));
    put("namespace", text(span.resource, "k8s.namespace.name"));
    put("service", text(span.resource, "service.name"));
    put("instance", text(span.resource, "service.instance.id"));
  }
  put("url", address(span.attributes) ?? (view === "server" ? address(span.resource) : null));
  put("model", model);
  return server;
}

function address(from: Attributes): string | null {
  const host = text(from, "server.address");
  if (host === null) return null;
  const port = from["server.port"];
  return port === undefined ? host : `${host}:${port}`;
}

function statusOf(span: DecodedSpan): RequestStatus {
  const reasons = span.attributes["gen_ai.response.finish_reasons"];
  const error = text(span.attributes, "error.type");
  if (error !== null && /timeout|deadline/i.test(error)) return "timeout";
  if (error !== null && /cancel|abort/i.test(error)) return "cancelled";
  if (error !== null || span.status === ERROR_STATUS) return "error";
  if (Array.isArray(reasons) && reasons.some((reason) => reason === "abort" || reason === "cancelled")) return "cancelled";
  return "ok";
}

/** Seconds of a phase, or null when it is absent or cannot be: negative, from mixed clocks, or longer than the whole. */
function phase(a: Attributes, key: string, wholeS: number | null): number | null {
  const value = a[key];
  if (typeof value !== "number" || !(value >= 0) || value > MAX_PHASE_S) return null;
  return wholeS !== null && value > wholeS + CLOCK_SLACK_S ? null : value;
}

const milliseconds = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);

function tokens(a: Attributes, key: string): number | null {
  const value = a[key];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : null;
}

function text(a: Attributes, key: string): string | null {
  const value = a[key];
  return typeof value === "string" && value !== "" ? value : null;
}
