import type { RequestColumns } from "../../../schemas/requests.js";
import { toLogStep } from "./payload-codec.js";

/** The requests as they are drawn: in the order of arrival. */
export interface RequestDots {
  /** Row of the request. */
  readonly row: Int32Array;
  readonly lanes: readonly { readonly id: string; readonly title: string; readonly step: Uint16Array; readonly max: number }[];
}

/** Drawn one by one up to here; beyond, requests that would fall on the same dot of a fine grid are drawn once. */
const MOST_DOTS = 150_000;
const STEPS_A_CELL = 12;

/** Longest gap between tokens of each request, ms; NaN where gaps were not recorded. */
export function worstGaps(requests: RequestColumns): Float64Array {
  const worst = new Float64Array(requests.n).fill(Number.NaN);
  for (let i = 0; i < requests.n; i++) {
    const to = requests.gap_offset[i + 1]!;
    for (let k = requests.gap_offset[i]!; k < to; k++) {
      const gap = requests.gap_ms[k]!;
      if (!(gap <= worst[i]!)) worst[i] = gap;
    }
  }
  return worst;
}

/** `slow` marks rows that are always drawn, `most` may be lowered in tests. */
export function requestDots(requests: RequestColumns, gaps: Float64Array, slow: Uint8Array, most = MOST_DOTS): RequestDots {
  const candidates = [
    { id: "ttft", title: "Time to first token", ms: requests.ttft_ms },
    { id: "gap", title: "Worst gap between tokens", ms: gaps },
    { id: "e2e", title: "End to end", ms: requests.e2e_ms },
  ].filter(({ ms }) => ms.some((v) => Number.isFinite(v)));
  const chosen = candidates.slice(0, 2).map((c) => ({ ...c, step: Uint16Array.from(c.ms, toLogStep) }));
  const drawn: number[] = [];
  for (let i = 0; i < requests.n; i++) if (Number.isFinite(requests.arrival_us[i]!) && chosen.some((c) => c.step[i]! > 0)) drawn.push(i);
  const kept =
    drawn.length <= most
      ? drawn
      : thinned(
          drawn,
          requests,
          chosen.map((c) => c.step),
          slow,
          most,
        );
  return {
    row: Int32Array.from(kept),
    lanes: chosen.map(({ id, title, ms, step }) => ({ id, title, step: Uint16Array.from(kept, (i) => step[i]!), max: largest(ms) })),
  };
}

/** Keeps what is slow and one request per cell of time by latency, the cells widened until few enough are left. */
function thinned(
  drawn: readonly number[],
  requests: RequestColumns,
  steps: readonly Uint16Array[],
  slow: Uint8Array,
  most: number,
): number[] {
  const from = requests.arrival_us[drawn[0]!]!;
  const span = Math.max(1, requests.arrival_us[drawn.at(-1)!]! - from);
  for (let cells = 16_384; ; cells /= 2) {
    const kept: number[] = [];
    const lastCell = steps.map(() => new Int32Array(8192).fill(-1));
    for (const i of drawn) {
      const cell = Math.floor(((requests.arrival_us[i]! - from) / span) * cells);
      let keep = slow[i] === 1;
      steps.forEach((step, lane) => {
        if (step[i] === 0) return;
        const level = Math.min(8191, Math.floor(step[i]! / STEPS_A_CELL));
        if (lastCell[lane]![level] === cell) return;
        lastCell[lane]![level] = cell;
        keep = true;
      });
      if (keep) kept.push(i);
    }
    if (kept.length <= most || cells <= 256) return kept;
  }
}

function largest(values: ArrayLike<number>): number {
  let max = 0;
  for (let i = 0; i < values.length; i++) if (values[i]! > max) max = values[i]!;
  return max;
}
