import type { RequestView } from "../../schemas/requests.js";
import { LATEST_EPOCH_US } from "./nanoseconds.js";

/** 2015-01-01: no request to a language model is older. */
const EARLIEST_REQUEST_US = 1_420_070_400_000_000;
const LONGEST_MS = 1e10;
/** The longest context is below 10^7 tokens. A limit may be any "no limit" that a program writes. */
const MOST_TOKENS = 1e8;

const DURATIONS = ["ttft_ms", "e2e_ms", "tokenize_ms", "queue_ms", "prefill_ms", "decode_ms", "transfer_ms"] as const;
const COUNTS = ["input_tokens", "output_tokens", "cached_tokens"] as const;
const BOUNDED = [
  ...DURATIONS.map((name) => [name, LONGEST_MS] as const),
  ...COUNTS.map((name) => [name, MOST_TOKENS] as const),
  ["max_tokens", Number.MAX_SAFE_INTEGER] as const,
];
/** A moment, and the duration that says the same: a fault of both is told once. */
const MOMENTS = [
  ["first_token_us", "ttft_ms"],
  ["end_us", "e2e_ms"],
  ["scheduled_us", null],
] as const;

type Droppable = (typeof BOUNDED)[number][0] | (typeof MOMENTS)[number][0] | "gaps_ms";

export type ValueFault = "range" | "not_finite";

/**
 * The request with every value gone that cannot be: a duration of more than 10^7 s, more than 10^8 tokens, less than nothing, no
 * finite number. Null when its start cannot be.
 *
 * @param onFault told of every value that is dropped.
 */
export function boundedRequest(view: RequestView, onFault: (fault: ValueFault) => void): RequestView | null {
  if (!(view.start_us >= EARLIEST_REQUEST_US && view.start_us <= LATEST_EPOCH_US)) return null;
  const gone: Partial<Record<Droppable, null>> = {};
  const drop = (name: Droppable, fault: ValueFault): void => {
    gone[name] = null;
    onFault(fault);
  };
  for (const [name, largest] of BOUNDED) {
    const fault = faultOf(view[name], largest);
    if (fault !== null) drop(name, fault);
  }
  for (const [moment, duration] of MOMENTS) {
    const us = view[moment];
    const fault = us === null ? null : faultOf(Math.abs(us - view.start_us) / 1000, LONGEST_MS);
    if (fault === null) continue;
    if (duration !== null && duration in gone) gone[moment] = null;
    else drop(moment, fault);
  }
  const gapFault = view.gaps_ms === null ? null : faultOfGaps(view.gaps_ms);
  if (gapFault !== null) drop("gaps_ms", gapFault);
  return Object.keys(gone).length === 0 ? view : { ...view, ...gone };
}

function faultOf(value: number | null, largest: number): ValueFault | null {
  if (value === null) return null;
  if (!Number.isFinite(value)) return "not_finite";
  return value < 0 || value > largest ? "range" : null;
}

/** One bad gap costs all: a series with holes would shift the rest. Infinite is what a number too large for a Float32 becomes. */
function faultOfGaps(gaps: Float32Array): ValueFault | null {
  for (const gap of gaps) {
    if (Number.isNaN(gap)) return "not_finite";
    if (gap < 0 || gap > LONGEST_MS) return "range";
  }
  return null;
}
