import { REQUEST_STATUSES, type RequestStatus, type RequestView } from "../../../schemas/requests.js";
import { parseIso } from "../../time/iso-time.js";
import type { LocalClock } from "../../time/local-clock.js";
import { asNumber, asText } from "../exact-json.js";
import { joinId } from "../join-id.js";
import { isAnchored, nsToUs } from "../nanoseconds.js";
import { after, clientView } from "./client-view.js";
import { positive } from "./number-lists.js";

type Fields = Readonly<Record<string, unknown>>;

/** One row of whyslow's own request form (docs/request-form.md), or why it is none. */
export function requestFormRecord(row: Fields, local: LocalClock): RequestView | string {
  const request_id = asText(row.request_id) ?? (asNumber(row.request_id) === null ? null : String(asNumber(row.request_id)));
  if (request_id === null) return "request_id";
  const start_us = pointUs(row, "start", local);
  if (start_us === null) return "start_time";
  if (!isAnchored(start_us)) return "clock_not_anchored";
  const ttft_ms = durationMs(row, "ttft");
  const e2e_ms = durationMs(row, "e2e");
  const first_token_us = pointUs(row, "first_token", local) ?? after(start_us, ttft_ms);
  const end_us = pointUs(row, "end", local) ?? after(start_us, e2e_ms);
  if (end_us !== null && end_us < start_us) return "end_before_start";
  const said = asText(row.status)?.toLowerCase() ?? null;
  if (said !== null && !(REQUEST_STATUSES as readonly string[]).includes(said)) return "status";
  const error = asText(row.error);
  const view = asText(row.view) === "server" ? "server" : "client";
  return clientView({
    request_id,
    join_id: joinId(request_id, view === "server" ? "span" : "response"),
    view,
    server: serverOf(row),
    model: asText(row.model),
    scheduled_us: pointUs(row, "scheduled", local),
    start_us,
    first_token_us,
    end_us,
    ttft_ms: ttft_ms ?? between(start_us, first_token_us),
    e2e_ms: e2e_ms ?? between(start_us, end_us),
    tokenize_ms: durationMs(row, "tokenize"),
    queue_ms: durationMs(row, "queue"),
    prefill_ms: durationMs(row, "prefill"),
    decode_ms: durationMs(row, "decode"),
    transfer_ms: durationMs(row, "transfer"),
    input_tokens: positive(row.input_tokens),
    output_tokens: positive(row.output_tokens),
    cached_tokens: positive(row.cached_tokens),
    max_tokens: positive(row.max_tokens),
    gaps_ms: gapsOf(row.gaps_ms),
    status: (said as RequestStatus | null) ?? (error !== null ? "error" : end_us === null ? "open" : "ok"),
    error,
    warmup: row.warmup === true || row.warmup === "true" || row.warmup === "1",
    conversation_id: asText(row.conversation_id),
    turn_index: asNumber(row.turn_index),
    route: asText(row.route),
    task_type: asText(row.task_type),
  });
}

/** Whether names of columns or keys are of the form: an id and a start. */
export function isRequestForm(names: readonly string[]): boolean {
  return names.includes("request_id") && names.some((name) => /^start(_(s|ms|us|ns))?$/.test(name));
}

const PER_SECOND: readonly (readonly [string, number])[] = [
  ["_s", 1e6],
  ["_ms", 1e3],
  ["_us", 1],
];

/** `NAME_ns`, `_us`, `_ms`, `_s`: since 1970. `NAME`: ISO 8601, with a zone, or local. */
function pointUs(row: Fields, name: string, local: LocalClock): number | null {
  const ns = row[`${name}_ns`];
  if (ns !== undefined && ns !== "") return nsToUs(ns);
  for (const [suffix, scale] of PER_SECOND) {
    const value = positive(row[`${name}${suffix}`]);
    if (value !== null) return Math.round(value * scale);
  }
  const text = asText(row[name]);
  if (text === null) return null;
  const iso = parseIso(text);
  if (iso !== null) return iso;
  const asUtc = parseIso(`${text}Z`);
  return asUtc === null ? null : local.toUtc(asUtc);
}

/** `NAME_ms` or `NAME_s`. */
function durationMs(row: Fields, name: string): number | null {
  const seconds = positive(row[`${name}_s`]);
  return positive(row[`${name}_ms`]) ?? (seconds === null ? null : seconds * 1000);
}

const between = (from: number, to: number | null): number | null => (to === null || to < from ? null : (to - from) / 1000);

/** A JSON list, or numbers apart by `;` or blanks. */
function gapsOf(value: unknown): Float32Array | null {
  const text = asText(value);
  const list = Array.isArray(value) ? (value as readonly unknown[]) : (text?.replace(/^\[|\]$/g, "").split(/[;,\s]+/) ?? null);
  if (list === null) return null;
  const gaps = list.filter((item) => item !== "").map(positive);
  return gaps.some((gap) => gap === null) ? null : Float32Array.from(gaps as number[]);
}

const SERVER_KEYS: readonly string[] = ["pod", "service", "url", "instance"];

function serverOf(row: Fields): Record<string, string> {
  const server: Record<string, string> = {};
  for (const key of SERVER_KEYS) {
    const value = asText(row[`server_${key}`]);
    if (value !== null) server[key] = value;
  }
  const model = asText(row.model);
  return model === null ? server : { ...server, model };
}
