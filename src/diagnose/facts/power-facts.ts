import type { Track } from "../../../schemas/index.js";
import { clamp, ramp } from "../../core/ramp.js";
import { weightedMean } from "../../core/window-mean.js";
import { type EpisodeContext, type Fact, rampOf } from "../episode-context.js";
import { type Reading, readGpus, readSeries } from "../reading.js";
import { factOf } from "./fact-of.js";

/** NVML clocks event reasons that hold clocks down for heat or hardware, and for the power cap. */
const THERMAL_REASONS = 0x8 | 0x20 | 0x40 | 0x80;
const POWER_REASON = 0x4;
/** A clock this far below its usual counts for decode too; above, decode hardly feels it. */
const DECODE_FEELS = [0.6, 0.45] as const;
const DECODE_LITTLE = 0.3;
/** Unless memory traffic fell this much with a clock that is this far down. */
const MEMORY_FELL = [0.15, 0.35] as const;
const DEEP = [0.15, 0.3] as const;
/** A throttled GPU whose source has no reason bits. */
const REASON_UNKNOWN = 0.7;

const modelPeak = (ctx: EpisodeContext, pick: (row: EpisodeContext["table"]["gpus"][number]) => number): number => {
  const model = ctx.group.gpus[0]?.find((t) => t.entity.labels.model !== undefined)?.entity.labels.model ?? "";
  const row = ctx.table.gpus.find((g) => model.includes(g.match));
  return row === undefined ? Number.NaN : pick(row);
};

export const gpuPeak = modelPeak;

export const powerHigh: Fact = (ctx, row) => {
  const [lo, hi] = rampOf(row, "power");
  const limit = readGpus(ctx, "power_limit_w", { width: 100 });
  const watts = limit?.value ?? modelPeak(ctx, (g) => g.power_w);
  const r = readGpus(ctx, "power_w", { width: (hi - lo) * (watts || 1), noise: 5 });
  if (r === null || !(watts > 0)) return null;
  const scaled: Reading = {
    ...r,
    value: r.value / watts,
    usual: r.usual / watts,
    sd: r.sd / watts,
    quality: r.quality * (limit === null ? 0.8 : 1),
  };
  return factOf(row.name, scaled, ramp(scaled.value, lo, hi));
};

/** Share of the window's weight in which one of the bits is set on one GPU; NaN where it has no mask. */
const reasonOf = (ctx: EpisodeContext, tracks: readonly Track[], bits: number): number => {
  const sourced = ctx.view.best(tracks, "clocks_event_mask");
  if (sourced === null) return Number.NaN;
  const hits = ctx.view.derived(sourced.track, `clocks_event_mask&${bits}`, () => ({
    ...sourced.series,
    value: sourced.series.value.map((v) => ((v & bits) !== 0 ? 1 : 0)),
  }));
  return weightedMean(hits, ctx.incident.weight, ctx.incident.support).mean;
};

/** The same over the GPUs, the worst. */
const reasonShare = (ctx: EpisodeContext, bits: number): number => {
  let worst = Number.NaN;
  for (const tracks of ctx.group.gpus) {
    const share = reasonOf(ctx, tracks, bits);
    if (Number.isFinite(share)) worst = Number.isNaN(worst) ? share : Math.max(worst, share);
  }
  return worst;
};

/** Fall of one GPU's clock below its usual, with the reading. */
const clockFall = (ctx: EpisodeContext, tracks: readonly Track[]): { reading: Reading; fall: number } | null => {
  const sourced = ctx.view.best(tracks, "sm_clock_mhz");
  const reading = sourced === null ? null : readSeries(ctx, sourced, { width: 200, noise: 15 });
  return reading === null || !(reading.p95 > 0) ? null : { reading, fall: 1 - reading.value / reading.p95 };
};

/** Fall of memory traffic against its usual. Decode lives on it: where it fell with the clock, decode felt the clock. */
const memoryFall = (ctx: EpisodeContext): number => {
  const r =
    readGpus(ctx, "dram_active_ratio", { width: 0.25, ratio: true }) ?? readGpus(ctx, "mem_util_ratio", { width: 0.25, ratio: true });
  return r === null || !(r.usual > 0) ? 0 : 1 - r.value / r.usual;
};

/** Clock fall of the slowest GPU: one throttled rank slows all. */
export const throttle: Fact = (ctx, row) => {
  let slowest: Reading | null = null;
  let depth = 0;
  for (const tracks of ctx.group.gpus) {
    const found = clockFall(ctx, tracks);
    if (found === null || (slowest !== null && found.fall <= depth)) continue;
    slowest = found.reading;
    depth = found.fall;
  }
  if (slowest === null) return null;
  const thermal = reasonShare(ctx, THERMAL_REASONS);
  const power = reasonShare(ctx, POWER_REASON);
  const known = !Number.isNaN(thermal);
  const byHeat = ramp(depth, ...rampOf(row, "depth")) * (known ? thermal : REASON_UNKNOWN);
  const byPower = ramp(depth, ...rampOf(row, "power_depth")) * (known ? power : 0);
  const feels = Math.max(ramp(1 - depth, DECODE_FEELS[0], DECODE_FEELS[1]), ramp(memoryFall(ctx), ...MEMORY_FELL) * ramp(depth, ...DEEP));
  const decode = DECODE_LITTLE + (1 - DECODE_LITTLE) * feels;
  const p = ctx.phases;
  const decodeShare = p.decode ?? 0;
  const felt = clamp(1 - decodeShare + decode * decodeShare, 0, 1);
  const strength = Math.max(byHeat, byPower) * felt;
  return factOf(row.name, slowest, strength, { value: depth, expected: 0, contrast: Number.NaN, dose: strength > 0 ? depth : Number.NaN });
};

/** Whether the power cap, and not heat, holds the clocks down: names the cause, gives no weight. */
export const powerCap: Fact = (ctx, row) => {
  const power = reasonShare(ctx, POWER_REASON);
  const thermal = reasonShare(ctx, THERMAL_REASONS);
  const r = readGpus(ctx, "clocks_event_mask", { width: 1 });
  if (r === null || Number.isNaN(power)) return null;
  return factOf(row.name, r, ramp(power - thermal, ...rampOf(row, "share")), { value: power, expected: 0, contrast: Number.NaN });
};

/** One rank of a group whose clock is held down with a reason while the others run free: all wait for it. Names the cause, gives no weight. */
export const throttledRank: Fact = (ctx, row) => {
  if (ctx.group.groupQuality === 0) return null;
  const ranks = ctx.group.gpus.flatMap((tracks) => {
    const found = clockFall(ctx, tracks);
    return found === null ? [] : [{ ...found, reason: reasonOf(ctx, tracks, THERMAL_REASONS | POWER_REASON) }];
  });
  ranks.sort((a, b) => b.fall - a.fall);
  const [slowest, ...others] = ranks;
  if (slowest === undefined || others.length === 0 || Number.isNaN(slowest.reason)) return null;
  const apart = slowest.fall - others[(others.length - 1) >> 1]!.fall;
  return factOf(row.name, slowest.reading, ramp(apart, ...rampOf(row, "apart")) * slowest.reason, {
    value: apart,
    expected: 0,
    contrast: Number.NaN,
  });
};
