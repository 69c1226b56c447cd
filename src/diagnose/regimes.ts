import { type Segment, segment } from "../core/change-points.js";
import { clamp } from "../core/ramp.js";

/** Above this many rows neighbours are averaged first, so that the search stays linear. */
const MAX_BLOCKS = 4096;
/** Requests that the reference must cover, as a share of all. */
const REFERENCE_SHARE = 0.1;
/** A regime belongs to the base while its mean residual is within this of the reference. */
const SAME_REGIME = Math.log(1.3);

export interface Regimes {
  readonly segments: readonly Segment[];
  /** 1 where the row's regime is as fast as the fastest ones: baselines are taken there. */
  readonly base: Uint8Array;
}

/**
 * Splits a run into regimes by change points of the mean log-residual (rows in order of arrival), and finds the ones that are
 * undisturbed. Works past 50 % of slow requests, where every robust scale breaks down: the fastest regime is the reference.
 */
export const findRegimes = (residuals: readonly Float64Array[], n: number): Regimes => {
  const base = new Uint8Array(n);
  const level: number[] = [];
  const rows: number[] = [];
  for (let i = 0; i < n; i++) {
    let sum = 0;
    let count = 0;
    for (const r of residuals) {
      if (!Number.isFinite(r[i]!)) continue;
      sum += clamp(r[i]!, -1, 2);
      count++;
    }
    if (count === 0) continue;
    level.push(sum / count);
    rows.push(i);
  }
  const block = Math.ceil(level.length / MAX_BLOCKS);
  const blocks = Math.floor(level.length / Math.max(1, block));
  const means = new Float64Array(blocks);
  for (let b = 0; b < blocks; b++) {
    let sum = 0;
    for (let k = 0; k < block; k++) sum += level[b * block + k]!;
    means[b] = sum / block;
  }
  const minRows = Math.max(2, Math.ceil(30 / Math.max(1, block)));
  const found = segment(means, { minRows });
  const segments = found.map((s) => ({
    from: s.from * block,
    to: s === found[found.length - 1] ? level.length : s.to * block,
    mean: s.mean,
  }));
  let covered = 0;
  let weighted = 0;
  for (const s of [...segments].sort((a, b) => a.mean - b.mean || a.from - b.from)) {
    weighted += s.mean * (s.to - s.from);
    covered += s.to - s.from;
    if (covered >= REFERENCE_SHARE * level.length) break;
  }
  const reference = weighted / Math.max(1, covered);
  for (const s of segments) if (s.mean <= reference + SAME_REGIME) for (let k = s.from; k < s.to; k++) base[rows[k]!] = 1;
  return { segments, base };
};
