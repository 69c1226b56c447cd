import type { IntervalSeries } from "../../core/interval-series.js";
import { lowerBound } from "./lower-bound.js";

/** A line reduced for drawing: at each time the extremes of the readings that fell there; NaN = a gap. */
export interface ReducedLine {
  readonly at_us: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** True when each point is one reading. */
  readonly exact: boolean;
}

export interface Span {
  readonly from_us: number;
  readonly to_us: number;
}

/** A distance of neighbours beyond this many usual ones is a gap. */
const GAP = 2.5;

/**
 * At most about `most` points: as it is when it is short enough, else extremes of equal stretches of time, and inside of `detail` (the most
 * important first) every reading as long as those are no more than `most` again.
 */
export function reduceLine(series: IntervalSeries, most: number, range: Span, detail: readonly Span[]): ReducedLine {
  const at = Float64Array.from({ length: series.n }, (_, i) => (series.from[i]! + series.to[i]!) / 2);
  const first = lowerBound(at, range.from_us);
  const last = lowerBound(at, range.to_us + 1);
  const inside = last - first;
  const step = usualStep(at, first, last);
  const out = new Points(GAP * step);
  if (inside <= most) {
    for (let i = first; i < last; i++) out.add(at[i]!, series.value[i]!, series.value[i]!);
    return out.done(true);
  }
  const kept = fittingDetail(at, most, detail);
  const width = (range.to_us - range.from_us) / most;
  let cell = -1;
  let low = Number.NaN;
  let high = Number.NaN;
  let from = 0;
  let to = 0;
  const flush = (): void => {
    if (cell >= 0) out.add((from + to) / 2, low, high, to - from);
    cell = -1;
  };
  let d = 0;
  for (let i = first; i < last; i++) {
    const t = at[i]!;
    const v = series.value[i]!;
    while (d < kept.length && kept[d]!.to_us < t) d++;
    if (d < kept.length && kept[d]!.from_us <= t) {
      flush();
      out.add(t, v, v);
      continue;
    }
    const own = Math.floor((t - range.from_us) / width);
    if (own !== cell) {
      flush();
      cell = own;
      low = v;
      high = v;
      from = t;
    } else {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    to = t;
  }
  flush();
  return out.done(false);
}

/** Points with a NaN wherever a gap lies between them. */
class Points {
  readonly #at: number[] = [];
  readonly #low: number[] = [];
  readonly #high: number[] = [];
  readonly #gap_us: number;
  #end = Number.NaN;

  constructor(gap_us: number) {
    this.#gap_us = gap_us;
  }

  /** `spread` is the time that the readings of the point span. */
  add(at: number, low: number, high: number, spread = 0): void {
    const start = at - spread / 2;
    if (start - this.#end > this.#gap_us) this.#push((start + this.#end) / 2, Number.NaN, Number.NaN);
    this.#push(at, low, high);
    this.#end = at + spread / 2;
  }

  #push(at: number, low: number, high: number): void {
    this.#at.push(at);
    this.#low.push(low);
    this.#high.push(high);
  }

  done(exact: boolean): ReducedLine {
    return { at_us: Float64Array.from(this.#at), low: Float64Array.from(this.#low), high: Float64Array.from(this.#high), exact };
  }
}

/** As many of the first spans as hold no more than `most` readings together; sorted, without overlaps. */
function fittingDetail(at: Float64Array, most: number, detail: readonly Span[]): Span[] {
  const kept: Span[] = [];
  let readings = 0;
  for (const span of detail) {
    readings += lowerBound(at, span.to_us) - lowerBound(at, span.from_us);
    if (readings > most) break;
    kept.push(span);
  }
  return mergeSpans(kept);
}

function usualStep(at: Float64Array, first: number, last: number): number {
  const steps = new Float64Array(Math.max(0, last - first - 1));
  for (let i = 0; i < steps.length; i++) steps[i] = at[first + i + 1]! - at[first + i]!;
  steps.sort();
  return steps.length === 0 ? Number.POSITIVE_INFINITY : steps[steps.length >> 1]!;
}

/** Sorted spans without overlaps. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.from_us - b.from_us)) {
    const before = merged.at(-1);
    if (before && span.from_us <= before.to_us)
      merged[merged.length - 1] = { from_us: before.from_us, to_us: Math.max(before.to_us, span.to_us) };
    else merged.push(span);
  }
  return merged;
}
