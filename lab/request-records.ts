import { Random } from "../src/sim/random.js";
import type { SimRequest } from "../src/sim/request.js";
import { POD } from "../src/sim/scenario.js";

/** One way between client and server. */
const NETWORK_US = 1000;

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
const ns = (us: number): string => `${Math.round(us)}000`;

/** One line of AIPerf's per-record export; the client's view. `epoch_us`: Unix time of the simulation's start. */
export function aiperfRecord(request: SimRequest, epoch_us: number, session: number): string {
  const start = epoch_us + request.at_us - NETWORK_US;
  const ttft_us = request.emit_us[0]! + NETWORK_US - (request.at_us - NETWORK_US);
  const e2e_us = request.end_us + NETWORK_US - (request.at_us - NETWORK_US);
  const gaps = request.emit_us.slice(1).map((at, i) => round((at - request.emit_us[i]!) / 1000, 3));
  const metric = (value: number | number[], unit: string): { value: number | number[]; unit: string } => ({ value, unit });
  const record = {
    metadata: {
      session_num: session,
      x_request_id: request.id,
      x_correlation_id: request.id,
      conversation_id: request.id,
      turn_index: 0,
      request_start_ns: "START",
      request_ack_ns: "ACK",
      request_end_ns: "END",
      worker_id: "worker_0",
      record_processor_id: "record_processor_0",
      benchmark_phase: "profiling",
      was_cancelled: false,
      cancellation_time_ns: null,
    },
    metrics: {
      input_sequence_length: metric(request.prompt_tokens, "tokens"),
      output_sequence_length: metric(request.output_tokens, "tokens"),
      output_token_count: metric(request.output_tokens, "tokens"),
      time_to_first_token: metric(round(ttft_us / 1000, 4), "ms"),
      request_latency: metric(round(e2e_us / 1000, 4), "ms"),
      inter_token_latency: metric(round((e2e_us - ttft_us) / 1000 / Math.max(1, request.output_tokens - 1), 4), "ms"),
      inter_chunk_latency: metric(gaps, "ms"),
    },
    error: null,
  };
  // 64-bit nanoseconds do not survive JSON.stringify of a number.
  return JSON.stringify(record)
    .replace('"START"', ns(start))
    .replace('"ACK"', ns(start + 2 * NETWORK_US))
    .replace('"END"', ns(start + e2e_us));
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
}
export interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number };
}

export const SPAN_NAME = "llm_request";
export const SPAN_SCOPE = "vllm.llm_engine";
/** SpanKind SERVER. */
export const SPAN_KIND = 2;

const hex = (random: Random, digits: number): string => {
  let text = "";
  while (text.length < digits)
    text += Math.floor(random.next() * 0x100000000)
      .toString(16)
      .padStart(8, "0");
  return text.slice(0, digits);
};

/** vLLM's span of one finished request. */
export function llmRequestSpan(request: SimRequest, epoch_us: number): OtlpSpan {
  const ids = new Random(request.at_us, request.id);
  const seconds = (us: number): { doubleValue: number } => ({ doubleValue: us / 1e6 });
  const count = (n: number): { intValue: string } => ({ intValue: String(n) });
  const attributes: OtlpAttribute[] = [
    { key: "gen_ai.latency.time_to_first_token", value: seconds(request.emit_us[0]! - request.at_us) },
    { key: "gen_ai.latency.e2e", value: seconds(request.end_us - request.at_us) },
    { key: "gen_ai.latency.time_in_queue", value: seconds(request.scheduled_us - request.queued_us) },
    { key: "gen_ai.usage.prompt_tokens", value: count(request.prompt_tokens) },
    { key: "gen_ai.usage.completion_tokens", value: count(request.output_tokens) },
    { key: "gen_ai.latency.time_in_model_prefill", value: seconds(request.first_engine_us - request.scheduled_us) },
    { key: "gen_ai.latency.time_in_model_decode", value: seconds(request.last_engine_us - request.first_engine_us) },
    { key: "gen_ai.latency.time_in_model_inference", value: seconds(request.last_engine_us - request.scheduled_us) },
    { key: "gen_ai.request.id", value: { stringValue: request.id } },
    { key: "gen_ai.request.max_tokens", value: count(request.output_tokens) },
    { key: "gen_ai.request.temperature", value: { doubleValue: 1 } },
    { key: "gen_ai.request.top_p", value: { doubleValue: 1 } },
    { key: "gen_ai.request.n", value: count(1) },
  ];
  return {
    traceId: hex(ids, 32),
    spanId: hex(ids, 16),
    startTimeUnixNano: ns(epoch_us + request.at_us),
    endTimeUnixNano: ns(epoch_us + request.end_us),
    attributes,
  };
}

const text = (key: string, stringValue: string): OtlpAttribute => ({ key, value: { stringValue } });
export const SPAN_RESOURCE: readonly OtlpAttribute[] = [
  text("telemetry.sdk.language", "python"),
  text("telemetry.sdk.name", "opentelemetry"),
  text("telemetry.sdk.version", "1.26.0"),
  text("service.name", "vllm-server"),
  text("k8s.pod.name", POD.pod),
];

/** An OTLP/JSON export request, as vLLM's SDK sends it and the Collector's file exporter writes it. */
export function exportRequest(spans: readonly OtlpSpan[]): unknown {
  const all = spans.map((s) => ({ ...s, flags: 256, name: SPAN_NAME, kind: SPAN_KIND, status: {} }));
  return { resourceSpans: [{ resource: { attributes: SPAN_RESOURCE }, scopeSpans: [{ scope: { name: SPAN_SCOPE }, spans: all }] }] };
}
