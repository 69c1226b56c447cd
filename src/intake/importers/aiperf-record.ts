import type { RequestStatus, RequestView } from "../../../schemas/requests.js";
import { asNumber, asObject, asText } from "../exact-json.js";
import { joinId } from "../join-id.js";
import { isAnchored, nsToUs } from "../nanoseconds.js";
import { metricListMs, metricMs, metricTokens } from "./aiperf-units.js";
import { after } from "./client-view.js";

export type AiperfFault = "request_id" | "start_time" | "clock_not_anchored" | "end_before_start";

/**
 * One line of AIPerf's `profile_export.jsonl`, of both generations: `request_start_ns`, `benchmark_phase`, `time_to_first_token`,
 * and the older `timestamp_ns`, `credit_phase`, `ttft`. Times are the client's wall clock, durations its monotonic clock. Values are as
 * written, NaN where not finite: what cannot be is dropped and counted on the way to the store.
 */
export function aiperfRecord(line: Readonly<Record<string, unknown>>): RequestView | AiperfFault {
  const metadata = asObject(line.metadata) ?? {};
  const metrics = asObject(line.metrics) ?? {};
  const request_id = asText(metadata.x_request_id);
  if (request_id === null) return "request_id";
  const start_us = nsToUs(metadata.request_start_ns ?? metadata.timestamp_ns ?? metricNs(metrics, "min_request_timestamp"));
  if (start_us === null) return "start_time";
  if (!isAnchored(start_us)) return "clock_not_anchored";
  const ttft_ms = metricMs(metrics, "time_to_first_token", "ttft");
  const e2e_ms = metricMs(metrics, "request_latency");
  const stamped = nsToUs(metadata.request_end_ns ?? metricNs(metrics, "max_response_timestamp"));
  const end_us = stamped ?? after(start_us, e2e_ms);
  if (end_us !== null && end_us < start_us) return "end_before_start";
  const failure = asObject(line.error);
  const status = statusOf(metadata, failure, end_us);
  return {
    request_id,
    join_id: joinId(request_id, "response"),
    view: "client",
    span_key: "",
    server: {},
    model: null,
    scheduled_us: nsToUs(metadata.credit_issued_ns),
    start_us,
    first_token_us: after(start_us, ttft_ms),
    end_us,
    ttft_ms,
    e2e_ms,
    tokenize_ms: null,
    queue_ms: null,
    prefill_ms: null,
    decode_ms: null,
    transfer_ms: null,
    input_tokens: metricTokens(metrics, "input_sequence_length", "error_isl"),
    output_tokens: metricTokens(metrics, "output_sequence_length", "output_token_count"),
    cached_tokens: null,
    max_tokens: null,
    gaps_ms: metricListMs(metrics, "inter_chunk_latency"),
    status,
    error: failure ? failureText(failure) : null,
    warmup: (metadata.benchmark_phase ?? metadata.credit_phase) === "warmup",
    conversation_id: asText(metadata.conversation_id),
    turn_index: asNumber(metadata.turn_index),
    route: asText(metadata.worker_id),
    task_type: null,
  };
}

const metricNs = (metrics: Readonly<Record<string, unknown>>, tag: string): unknown => asObject(metrics[tag])?.value;

/** HTTP's "client closed request", which AIPerf writes for its own cancellations. */
const CANCELLED_CODE = 499;

function statusOf(
  metadata: Readonly<Record<string, unknown>>,
  failure: Readonly<Record<string, unknown>> | null,
  end_us: number | null,
): RequestStatus {
  const type = failure ? (asText(failure.type) ?? "") : "";
  if (metadata.was_cancelled === true || asNumber(failure?.code) === CANCELLED_CODE || /cancel/i.test(type)) return "cancelled";
  if (/timeout/i.test(type)) return "timeout";
  if (failure) return "error";
  return end_us === null ? "open" : "ok";
}

/** Type and code only: the message may quote the server's answer. */
function failureText(failure: Readonly<Record<string, unknown>>): string {
  const code = asNumber(failure.code);
  const type = asText(failure.type) ?? "error";
  return code === null ? type : `${type} (${code})`;
}
