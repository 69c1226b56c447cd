import type { RequestView } from "../../../schemas/requests.js";
import { joinId } from "../join-id.js";

/** What a client's file says of a request; what it does not say is not measured. */
export type ClientFields = Partial<RequestView> & Pick<RequestView, "request_id" | "start_us">;

/** A request as its client saw it. */
export function clientView(fields: ClientFields): RequestView {
  return {
    join_id: joinId(fields.request_id, "response"),
    view: "client",
    span_key: "",
    server: {},
    model: null,
    scheduled_us: null,
    first_token_us: null,
    end_us: null,
    ttft_ms: null,
    e2e_ms: null,
    tokenize_ms: null,
    queue_ms: null,
    prefill_ms: null,
    decode_ms: null,
    transfer_ms: null,
    input_tokens: null,
    output_tokens: null,
    cached_tokens: null,
    max_tokens: null,
    gaps_ms: null,
    status: "ok",
    error: null,
    warmup: false,
    conversation_id: null,
    turn_index: null,
    route: null,
    task_type: null,
    ...fields,
  };
}

/** The moment at which a duration in ms ends; null where it is no duration. */
export const after = (startUs: number, ms: number | null): number | null =>
  ms === null || !Number.isFinite(ms) || ms < 0 ? null : startUs + Math.round(ms * 1000);
