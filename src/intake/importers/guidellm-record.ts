import type { RequestStatus, RequestView } from "../../../schemas/requests.js";
import { asNumber, asObject, asText } from "../exact-json.js";
import { joinId } from "../join-id.js";
import { isAnchored, secondsToUs } from "../nanoseconds.js";

export type GuidellmFault = "request_id" | "start_time" | "clock_not_anchored" | "end_before_start";
export type GuidellmOutcome = "successful" | "errored" | "incomplete";

type Fields = Readonly<Record<string, unknown>>;

/**
 * One request of a GuideLLM report: 0.6 (`info.timings`) or 0.2 and 0.3 (`scheduler_info`, `first_token_time`). Its time per output
 * token changed meaning between them and is not read; per-token gaps are not in the file. `request_args` (the prompt) is dropped.
 */
export function guidellmRecord(
  record: Fields,
  outcome: GuidellmOutcome,
  model: string | null,
  url: string | null,
): RequestView | GuidellmFault {
  const timings = asObject(asObject(record.info)?.timings) ?? {};
  const scheduler = asObject(record.scheduler_info) ?? {};
  const request_id = asText(record.response_id) ?? asText(record.request_id) ?? asText(asObject(record.info)?.request_id);
  if (request_id === null) return "request_id";
  const at = (...values: readonly unknown[]): number | null => {
    for (const value of values) {
      const us = secondsToUs(value);
      if (us !== null) return us;
    }
    return null;
  };
  const start_us = at(timings.request_start, scheduler.request_start, record.start_time);
  if (start_us === null) return "start_time";
  if (!isAnchored(start_us)) return "clock_not_anchored";
  const end_us = at(timings.request_end, scheduler.request_end, record.end_time);
  if (end_us !== null && end_us < start_us) return "end_before_start";
  const ttft_ms = positive(record.time_to_first_token_ms);
  const latencyS = positive(record.request_latency);
  const status = statusOf(outcome, record);
  return {
    request_id,
    join_id: joinId(request_id, "response"),
    view: "client",
    span_key: "",
    server: { ...(url === null ? {} : { url }), ...(model === null ? {} : { model }) },
    model,
    scheduled_us: at(timings.targeted_start, scheduler.targeted_start_time),
    start_us,
    first_token_us:
      at(timings.first_token_iteration, record.first_token_time) ?? (ttft_ms === null ? null : start_us + Math.round(ttft_ms * 1000)),
    end_us,
    ttft_ms,
    e2e_ms: latencyS === null ? null : latencyS * 1000,
    tokenize_ms: null,
    queue_ms: null,
    prefill_ms: null,
    decode_ms: decodeMs(record),
    transfer_ms: null,
    input_tokens: positive(record.prompt_tokens),
    output_tokens: positive(record.output_tokens),
    cached_tokens: null,
    max_tokens: null,
    gaps_ms: null,
    status,
    error: status === "ok" ? null : status,
    warmup: false,
    conversation_id: null,
    turn_index: null,
    route: null,
    task_type: null,
  };
}

/** From the first to the last token: the mean gap is over N - 1 gaps in every version. */
function decodeMs(record: Fields): number | null {
  const gapMs = positive(record.inter_token_latency_ms);
  const tokens = positive(record.output_tokens);
  return gapMs === null || tokens === null || tokens < 1 ? null : gapMs * (tokens - 1);
}

function statusOf(outcome: GuidellmOutcome, record: Fields): RequestStatus {
  const scheduler = asObject(record.scheduler_info);
  if (outcome === "incomplete" || scheduler?.canceled === true) return "cancelled";
  return outcome === "errored" || scheduler?.errored === true ? "error" : "ok";
}

function positive(value: unknown): number | null {
  const number = asNumber(value);
  return number !== null && number >= 0 ? number : null;
}
