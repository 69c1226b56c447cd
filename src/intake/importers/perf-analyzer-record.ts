import type { RequestView } from "../../../schemas/requests.js";
import { contentId } from "../../core/content-id.js";
import { asArray, asNumber, asObject, asText } from "../exact-json.js";
import { isAnchored, nsToUs } from "../nanoseconds.js";
import { clientView } from "./client-view.js";

type Fields = Readonly<Record<string, unknown>>;

/** One answer of the server: whether it carries text, and the few facts that are taken from it. */
interface Answer {
  readonly hasToken: boolean;
  readonly chunk: boolean;
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: Fields | null;
}

const NOTHING: Answer = { hasToken: false, chunk: false, id: null, model: null, usage: null };
const TEXT_KEYS: readonly string[] = ["content", "text", "reasoning_content", "reasoning"];

/**
 * One request of a perf_analyzer or GenAI-Perf export: epoch nanoseconds (as JSON numbers beyond 2^53, so to about 0.1 µs). The
 * time to the first token is that to the first answer with text: a role-only chunk, `[DONE]` and the empty last answer of a
 * decoupled model carry none. Of an answer only id, model and usage are read.
 */
export function perfAnalyzerRecord(record: Fields): RequestView | string {
  const start_us = nsToUs(record.timestamp);
  if (start_us === null) return "start_time";
  if (!isAnchored(start_us)) return "clock_not_anchored";
  const stamps = asArray(record.response_timestamps).map(nsToUs);
  const answers = asArray(record.response_outputs).map((output) => readAnswer(asText(asObject(output)?.response)));
  const tokens = stamps.filter((t, i): t is number => t !== null && (answers[i] ?? NOTHING).hasToken);
  const end_us = stamps.reduce<number | null>((a, t) => (t !== null && (a === null || t > a) ? t : a), null);
  if (end_us !== null && end_us < start_us) return "end_before_start";
  const id = answers.find((a) => a.id !== null)?.id ?? null;
  const usage = answers.findLast((a) => a.usage !== null)?.usage ?? {};
  const streamed = tokens.length > 1 || answers.some((a) => a.chunk);
  const first = streamed ? (tokens[0] ?? null) : null;
  return clientView({
    request_id: id ?? contentId(JSON.stringify([record.timestamp, record.sequence_id, stamps])),
    start_us,
    first_token_us: first,
    end_us,
    ttft_ms: first === null ? null : (first - start_us) / 1000,
    e2e_ms: end_us === null ? null : (end_us - start_us) / 1000,
    input_tokens: asNumber(usage.prompt_tokens),
    output_tokens: asNumber(usage.completion_tokens),
    gaps_ms: streamed ? Float32Array.from(tokens.slice(1), (t, i) => (t - tokens[i]!) / 1000) : null,
    status: stamps.length === 0 ? "error" : "ok",
    error: stamps.length === 0 ? "no answer" : null,
    model: answers.find((a) => a.model !== null)?.model ?? null,
    conversation_id: record.sequence_id === undefined ? null : String(asNumber(record.sequence_id) ?? asText(record.sequence_id) ?? ""),
  });
}

/** An answer may be a JSON body, one or several `data: {…}` events, or plain text of another kind of model. */
function readAnswer(body: string | null): Answer {
  if (body === null) return NOTHING;
  const events = body.split("\n").flatMap((line) => {
    const text = line.replace(/^data:\s*/, "").trim();
    return text === "" || text === "[DONE]" ? [] : [text];
  });
  const parsed = events.map(parse);
  if (events.length > 0 && parsed.every((event) => event === null)) return { ...NOTHING, hasToken: true };
  const bodies = parsed.filter((event) => event !== null);
  return {
    hasToken: bodies.some((b) => asArray(b.choices).some((choice) => hasText(asObject(choice)))),
    chunk: bodies.some((b) => (asText(b.object) ?? "").endsWith(".chunk")) || body.startsWith("data:"),
    id: bodies.map((b) => asText(b.id)).find((id) => id !== null) ?? null,
    model: bodies.map((b) => asText(b.model)).find((model) => model !== null) ?? null,
    usage: bodies.map((b) => asObject(b.usage)).findLast((usage) => usage !== null) ?? null,
  };
}

function hasText(choice: Fields | null): boolean {
  const parts = [choice, asObject(choice?.delta), asObject(choice?.message)];
  return parts.some((part) => TEXT_KEYS.some((key) => asText(part?.[key]) !== null) || asArray(part?.tool_calls).length > 0);
}

function parse(text: string): Fields | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}
