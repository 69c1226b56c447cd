import { ramp } from "../../core/ramp.js";
import { type EpisodeContext, type Fact, type FactReading, rampOf } from "../episode-context.js";
import type { Loss } from "../losses.js";

/** Stalls that are looked at, the longest first: enough to tell, bounded in cost. */
const LOOK_AT = 8;
const MIN_IN_FLIGHT = 4;
/** Part of a stall that another stream's gap must cover to be the same stall. */
const SAME_STALL = 0.7;
/** Chunks after a stall that come this fast, against the usual gap, came from a buffer. */
const BURST_GAP = 0.2;
const BURST_CHUNKS = 3;
/** Requests before a row that can still be in decode beside it. */
const SEARCH_BACK = 2000;

const reading = (fact: string, strength: number, value: number): FactReading => ({
  fact,
  strength,
  value,
  expected: Number.NaN,
  quality: 1,
  source: "requests",
  contrast: Number.NaN,
  dose: Number.NaN,
});

const longestStalls = (ctx: EpisodeContext): Loss[] =>
  ctx.incident.losses
    .filter((l) => l.part === "stall")
    .sort((a, b) => b.to - b.from - (a.to - a.from) || a.row - b.row || a.from - b.from)
    .slice(0, LOOK_AT);

/** Longest overlap of one request's recorded gaps with [from, to), µs. */
const gapOverlap = (ctx: EpisodeContext, row: number, from: number, to: number): number => {
  const { q, all } = ctx;
  const r = q.row[row]!;
  let t = q.first[row]!;
  let best = 0;
  for (let k = all.gap_offset[r]!; k < all.gap_offset[r + 1]!; k++) {
    const start = t;
    t += all.gap_ms[k]! * 1000;
    if (start >= to) break;
    if (t > from) best = Math.max(best, Math.min(t, to) - Math.max(start, from));
  }
  return best;
};

/** Share of the other streams in decode that stalled together with the longest stalls; null when too few were in flight or not all were seen. */
const syncShare = (ctx: EpisodeContext): number | null => {
  if (ctx.traceShare < 1) return null;
  const { q } = ctx;
  let sum = 0;
  let used = 0;
  for (const s of longestStalls(ctx)) {
    let inFlight = 0;
    let together = 0;
    for (let i = Math.max(0, s.row - SEARCH_BACK); i < q.n && q.arrival[i]! < s.from; i++) {
      if (i === s.row || !(q.first[i]! <= s.from) || !(q.end[i]! >= s.to) || !Number.isFinite(q.medianGap[i]!)) continue;
      inFlight++;
      if (gapOverlap(ctx, i, s.from, s.to) >= SAME_STALL * (s.to - s.from)) together++;
    }
    if (inFlight + 1 < MIN_IN_FLIGHT) continue;
    sum += together / inFlight;
    used++;
  }
  return used === 0 ? null : sum / used;
};

export const stallSync: Fact = (ctx, row) => {
  const share = syncShare(ctx);
  return share === null ? null : reading(row.name, ramp(share, ...rampOf(row, "share")), share);
};

/** Preemption stalls only its victims; everything that holds the engine stalls all. */
export const victimsOnly: Fact = (ctx, row) => {
  const share = syncShare(ctx);
  return share === null ? null : reading(row.name, ramp(1 - share, ...rampOf(row, "share")), 1 - share);
};

export const catchUp: Fact = (ctx, row) => {
  const stalls = longestStalls(ctx);
  const { q, all } = ctx;
  let bursts = 0;
  for (const s of stalls) {
    const r = q.row[s.row]!;
    const fast = Math.max(5, BURST_GAP * q.medianGap[s.row]!);
    let t = q.first[s.row]!;
    let k = all.gap_offset[r]!;
    for (; k < all.gap_offset[r + 1]! && t < s.to - 1; k++) t += all.gap_ms[k]! * 1000;
    let quick = 0;
    while (k < all.gap_offset[r + 1]! && all.gap_ms[k]! < fast && fast < q.medianGap[s.row]!) {
      quick++;
      k++;
    }
    if (quick >= BURST_CHUNKS) bursts++;
  }
  if (stalls.length === 0) return null;
  const share = bursts / stalls.length;
  return reading(row.name, ramp(share, ...rampOf(row, "share")), share);
};
