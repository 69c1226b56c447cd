import type { RequestView } from "../../../schemas/requests.js";
import { asArray, asText } from "../exact-json.js";
import { after, clientView } from "./client-view.js";
import { gapsMs, numberList, positive, secondsMs } from "./number-lists.js";

type Fields = Readonly<Record<string, unknown>>;

const DATE = /^(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})(\d{2})$/;

/** The result's `date`, `YYYYMMDD-HHMMSS`: local time without zone, taken after the run. µs as if it were UTC. */
export function resultDate(result: Fields): { local_us: number; text: string } | null {
  const text = asText(result.date);
  const m = text === null ? null : DATE.exec(text);
  if (!m) return null;
  const [year, month, day, hour, minute, second] = m.slice(1).map(Number) as [number, number, number, number, number, number];
  return { local_us: Date.UTC(year, month - 1, day, hour, minute, second) * 1000, text: text! };
}

/** Start times of the requests in seconds of the client's monotonic clock, and where the last one ended, µs; null without `start_times`. */
export function monotonicExtent(result: Fields): { first_us: number; last_us: number } | null {
  const starts = numberList(result.start_times)?.flatMap((s, i) => (s === null ? [] : [{ s, i }])) ?? [];
  if (starts.length === 0) return null;
  const itls = asArray(result.itls);
  const ends = starts.map(({ s, i }) => s * 1000 + (latencyMs(result, i, gapsMs(itls[i])) ?? 0));
  return {
    first_us: Math.round(starts.reduce((least, { s }) => Math.min(least, s), Infinity) * 1e6),
    last_us: Math.round(ends.reduce((a, b) => Math.max(a, b), -Infinity) * 1000),
  };
}

const at = (result: Fields, list: string, i: number): unknown => asArray(result[list])[i];

function latencyMs(result: Fields, i: number, gaps: Float32Array | null): number | null {
  const measured = secondsMs(at(result, "latencies", i));
  if (measured !== null) return measured;
  const ttft = secondsMs(at(result, "ttfts", i));
  return ttft === null ? null : ttft + (gaps?.reduce((a, b) => a + b, 0) ?? 0);
}

/**
 * Request `i` of a detailed result, sent at `startUs`. A failed request has a TTFT of 0 and no gaps: these are not measurements.
 * The texts are not read.
 */
export function vllmBenchRecord(result: Fields, i: number, startUs: number): RequestView {
  const gaps = gapsMs(at(result, "itls", i));
  const message = asText(at(result, "errors", i));
  const ttft = secondsMs(at(result, "ttfts", i));
  const failed = message !== null || (ttft === 0 && (gaps?.length ?? 0) === 0 && !positive(at(result, "output_lens", i)));
  const e2e_ms = failed ? null : latencyMs(result, i, gaps);
  const prefix = asText(result.request_id_prefix);
  return clientView({
    request_id: prefix === null ? `${asText(result.date) ?? "vllm-bench"}/${i}` : `${prefix}${i}`,
    start_us: startUs,
    first_token_us: failed ? null : after(startUs, ttft),
    end_us: after(startUs, e2e_ms),
    ttft_ms: failed ? null : ttft,
    e2e_ms,
    input_tokens: positive(at(result, "input_lens", i)),
    output_tokens: failed ? null : positive(at(result, "output_lens", i)),
    gaps_ms: failed ? null : gaps,
    status: failed ? "error" : "ok",
    // The message may quote the server's answer.
    error: failed ? "error" : null,
    model: asText(result.model_id),
  });
}
