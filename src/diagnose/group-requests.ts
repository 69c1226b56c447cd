import type { RequestColumns } from "../../schemas/index.js";
import { lastAtOrBefore } from "../core/step-function.js";
import { activeSpanUs } from "./active-time.js";

/** The requests of one server as compact columns, in order of arrival. NaN = missing. Times µs, durations ms. */
export interface GroupRequests {
  readonly n: number;
  /** Row in the run's RequestColumns. */
  readonly row: Int32Array;
  /** 1 where the request finished well and is no declared warm-up: only these enter baselines. */
  readonly usable: Uint8Array;
  /** 1 where the latency is only a lower bound: cancelled, timed out or still open. */
  readonly censored: Uint8Array;
  readonly sent: Float64Array;
  readonly arrival: Float64Array;
  /** From the first to the last arrival without long pauses, µs: what usual rates are rates of. */
  readonly activeSpan: number;
  readonly first: Float64Array;
  readonly end: Float64Array;
  readonly ttft: Float64Array;
  readonly serverTtft: Float64Array;
  readonly e2e: Float64Array;
  readonly tpot: Float64Array;
  readonly queue: Float64Array;
  readonly tokenize: Float64Array;
  readonly prefill: Float64Array;
  readonly transfer: Float64Array;
  readonly input: Float64Array;
  /** Prompt tokens that were computed, by the request or by the server's hit counters; the whole prompt where neither tells. */
  readonly uncached: Float64Array;
  readonly output: Float64Array;
  /** Longest time between two chunks, the median of them, their number; NaN without recorded gaps. */
  readonly maxGap: Float64Array;
  readonly medianGap: Float64Array;
}

/** TPOT of very short outputs is noise of a few chunks. */
const MIN_OUTPUT_FOR_TPOT = 8;

const medianOfGaps = (gaps: Float32Array): number => {
  const sorted = Float32Array.from(gaps).sort();
  return sorted[sorted.length >> 1]!;
};

/**
 * `lastSeen_us`: up to when open requests are known to have waited. `hitRatio`: share of prompt tokens that the server's prefix cache held
 * at a time, NaN where unknown; used where a request does not tell its own.
 */
export const groupRequests = (
  all: RequestColumns,
  rows: Int32Array,
  lastSeen_us: number,
  hitRatio: (t: number) => number = () => Number.NaN,
): GroupRequests => {
  const n = rows.length;
  const column = (source: Float64Array): Float64Array => {
    const out = new Float64Array(n);
    for (let i = 0; i < n; i++) out[i] = source[rows[i]!]!;
    return out;
  };
  const usable = new Uint8Array(n);
  const censored = new Uint8Array(n);
  const input = column(all.input_tokens);
  const cached = column(all.cached_tokens);
  const output = column(all.output_tokens);
  const ttft = column(all.ttft_ms);
  const e2e = column(all.e2e_ms);
  const end = column(all.end_us);
  const sent = column(all.sent_us);
  const first = column(all.first_token_us);
  const tpot = new Float64Array(n).fill(Number.NaN);
  const uncached = new Float64Array(n);
  const maxGap = new Float64Array(n).fill(Number.NaN);
  const medianGap = new Float64Array(n).fill(Number.NaN);
  for (let i = 0; i < n; i++) {
    const r = rows[i]!;
    const status = all.status[r]!;
    usable[i] = status === 0 && all.warmup[r] === 0 ? 1 : 0;
    const hits = Number.isFinite(cached[i]!) ? cached[i]! : input[i]! * hitRatio(all.arrival_us[r]!);
    uncached[i] = Number.isFinite(hits) ? Math.max(0, input[i]! - hits) : input[i]!;
    if (status >= 2) {
      censored[i] = 1;
      if (!Number.isFinite(end[i]!)) end[i] = Math.max(lastSeen_us, sent[i]!);
      if (!Number.isFinite(e2e[i]!)) e2e[i] = (end[i]! - sent[i]!) / 1000;
      if (!Number.isFinite(ttft[i]!)) ttft[i] = e2e[i]!;
    }
    if (!Number.isFinite(first[i]!) && Number.isFinite(ttft[i]!)) first[i] = sent[i]! + ttft[i]! * 1000;
    if (!Number.isFinite(end[i]!) && Number.isFinite(e2e[i]!)) end[i] = sent[i]! + e2e[i]! * 1000;
    if (output[i]! >= MIN_OUTPUT_FOR_TPOT) tpot[i] = (e2e[i]! - ttft[i]!) / (output[i]! - 1);
    const from = all.gap_offset[r]!;
    const to = all.gap_offset[r + 1]!;
    if (to - from >= 4) {
      const gaps = all.gap_ms.subarray(from, to);
      let longest = 0;
      for (const g of gaps) if (g > longest) longest = g;
      maxGap[i] = longest;
      medianGap[i] = medianOfGaps(gaps);
    }
  }
  const arrival = column(all.arrival_us);
  return {
    n,
    row: rows,
    usable,
    censored,
    sent,
    arrival,
    activeSpan: activeSpanUs(arrival),
    first,
    end,
    ttft,
    serverTtft: column(all.server_ttft_ms),
    e2e,
    tpot,
    queue: column(all.queue_ms),
    tokenize: column(all.tokenize_ms),
    prefill: column(all.prefill_ms),
    transfer: column(all.transfer_ms),
    input,
    uncached,
    output,
    maxGap,
    medianGap,
  };
};

/** Requests that arrived this many rows before a window may still run in it. */
const SEARCH_BACK = 5000;

/** Rows [first, after) that may have been in flight within [from, to], µs. */
export const rowsNear = (q: GroupRequests, from: number, to: number): [number, number] => [
  Math.max(0, lastAtOrBefore(q.arrival, from) - SEARCH_BACK),
  lastAtOrBefore(q.arrival, to) + 1,
];
