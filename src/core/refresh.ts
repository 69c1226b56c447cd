import type { Track } from "../../schemas/index.js";
import { columnSpec } from "../../schemas/index.js";
import { quantile } from "./quantile.js";

/** A source counts as read faster than it refreshes when at least this share of its readings repeats the one before, vector for vector. */
const REPEATS_MATTER = 0.2;

export interface Refresh {
  /** Median distance of readings, µs; NaN with fewer than two. */
  readonly interval_us: number;
  /** Median distance of distinct readings of the averaged columns, µs. */
  readonly refresh_us: number;
  /** Rows that only repeat the previous refresh (stale cache); null when the source is not read faster than it refreshes. */
  readonly repeated: Uint8Array | null;
}

const differences = (ts: ArrayLike<number>): Float64Array => {
  const out = new Float64Array(Math.max(0, ts.length - 1));
  for (let i = 1; i < ts.length; i++) out[i - 1] = ts[i]! - ts[i - 1]!;
  return out;
};

/**
 * Measures how often a track really refreshes. A scrape faster than the source's own cycle returns the same averages again;
 * such rows carry no new information. Only `interval` columns tell: levels and counters may rightly stand still.
 */
export const measureRefresh = (track: Track): Refresh => {
  const n = track.ts_us.length;
  const interval_us = quantile(differences(track.ts_us), 0.5);
  const averaged = Object.keys(track.columns)
    .sort()
    .filter((name) => columnSpec(track.entity.kind, name)?.window === "interval")
    .map((name) => track.columns[name]!);
  if (averaged.length < 2 || n < 8) return { interval_us, refresh_us: interval_us, repeated: null };
  const repeated = new Uint8Array(n);
  let repeats = 0;
  let moving = 0;
  for (let i = 1; i < n; i++) {
    const same = averaged.every((c) => Object.is(c[i], c[i - 1]));
    const idle = averaged.every((c) => !(c[i]! > 0));
    if (idle) continue;
    moving++;
    if (same) {
      repeated[i] = 1;
      repeats++;
    }
  }
  if (moving === 0 || repeats / moving < REPEATS_MATTER) return { interval_us, refresh_us: interval_us, repeated: null };
  const fresh = track.ts_us.filter((_, i) => repeated[i] === 0);
  return { interval_us, refresh_us: quantile(differences(fresh), 0.5), repeated };
};
