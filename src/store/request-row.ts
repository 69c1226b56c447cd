import os from "node:os";
import { REQUEST_STATUSES, type RequestStatus, type RequestView } from "../../schemas/requests.js";

const INTEGERS = ["scheduled_us", "first_token_us", "end_us", "turn_index"] as const;
const NUMBERS = [
  "ttft_ms",
  "e2e_ms",
  "tokenize_ms",
  "queue_ms",
  "prefill_ms",
  "decode_ms",
  "transfer_ms",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "max_tokens",
] as const;
const TEXTS = ["model", "error", "conversation_id", "route", "task_type"] as const;

/** Columns that a repeated export may complete: a later value wins, a missing one loses nothing. */
const MERGED = [...INTEGERS, ...NUMBERS, ...TEXTS, "gaps_f32"] as const;
const ALL = ["start_us", "source", "request_id", "span_key", "join_id", "view", "server", "status", "warmup", ...MERGED];

/** Adds a request that is not there yet. */
export const REQUEST_ADD_SQL = `INSERT INTO request (${ALL.join(",")}) VALUES (${ALL.map(() => "?").join(",")}) ON CONFLICT DO NOTHING`;

/** Two statements, for requests with and without a span: what makes a row a repetition differs. */
export function requestInsertSql(withSpan: boolean): string {
  const target = withSpan ? "(source, span_key) WHERE span_key <> ''" : "(start_us, source, request_id, span_key)";
  const merge = [
    "server = excluded.server",
    "status = CASE WHEN excluded.status = 'open' THEN status ELSE excluded.status END",
    ...MERGED.map((c) => `${c} = coalesce(excluded.${c}, ${c})`),
  ];
  return `INSERT INTO request (${ALL.join(",")}) VALUES (${ALL.map(() => "?").join(",")})
    ON CONFLICT ${target} DO UPDATE SET ${merge.join(", ")}`;
}

const integer = (value: unknown): number | null => {
  const rounded = typeof value === "number" ? Math.round(value) : Number.NaN;
  return Number.isSafeInteger(rounded) ? rounded : null;
};
const finite = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** The row's values in the statement's order; null when the request has no usable start or id. */
export function requestRow(view: RequestView, sourceId: number, serverId: number): unknown[] | null {
  const start = integer(view.start_us);
  if (start === null || typeof view.request_id !== "string") return null;
  const row: unknown[] = [start, sourceId, view.request_id, view.span_key, view.join_id, view.view, serverId, view.status];
  row.push(view.warmup ? 1 : 0);
  for (const name of INTEGERS) row.push(integer(view[name]));
  for (const name of NUMBERS) row.push(finite(view[name]));
  for (const name of TEXTS) row.push(text(view[name]));
  row.push(view.gaps_ms ? encodeGaps(view.gaps_ms) : null);
  return row;
}

export const REQUEST_COLUMNS = ALL;

/** Turns a stored row, with the server's labels as text in place of their id, back into what was written. */
export function requestView(row: Readonly<Record<string, unknown>>): RequestView {
  const gaps = row.gaps_f32 as Buffer | null;
  return {
    request_id: row.request_id as string,
    join_id: row.join_id as string,
    view: row.view === "server" ? "server" : "client",
    span_key: row.span_key as string,
    server: JSON.parse(row.server as string) as Record<string, string>,
    start_us: row.start_us as number,
    status: REQUEST_STATUSES.includes(row.status as RequestStatus) ? (row.status as RequestStatus) : "error",
    warmup: row.warmup === 1,
    gaps_ms: gaps ? decodeGaps(gaps) : null,
    ...(Object.fromEntries([...INTEGERS, ...NUMBERS].map((c) => [c, row[c]])) as Pick<
      RequestView,
      (typeof INTEGERS)[number] | (typeof NUMBERS)[number]
    >),
    ...(Object.fromEntries(TEXTS.map((c) => [c, row[c]])) as Pick<RequestView, (typeof TEXTS)[number]>),
  };
}

function encodeGaps(gaps: Float32Array): Buffer {
  const bytes = Buffer.from(gaps.buffer, gaps.byteOffset, gaps.byteLength);
  return os.endianness() === "LE" ? bytes : Buffer.from(bytes).swap32();
}

function decodeGaps(blob: Buffer): Float32Array {
  const bytes = new Uint8Array(blob.byteLength - (blob.byteLength % 4));
  bytes.set(blob.subarray(0, bytes.length));
  if (os.endianness() !== "LE") Buffer.from(bytes.buffer).swap32();
  return new Float32Array(bytes.buffer);
}
