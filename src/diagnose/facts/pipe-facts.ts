import { clamp, ramp } from "../../core/ramp.js";
import { type EpisodeContext, type Fact, rampOf } from "../episode-context.js";
import { gpusHave, type Reading, readGpus } from "../reading.js";
import { factOf } from "./fact-of.js";

/** Practical ceilings of the pipes' activity where the run itself does not reach higher. */
const DRAM_PEAK = 0.8;
const DRAM_PEAK_USUAL = 0.85;
/** Activity of the SMs, or the coarser engine activity in its place. */
export const smReading = (ctx: EpisodeContext, width: number): Reading | null =>
  readGpus(ctx, "sm_active_ratio", { width, ratio: true }) ??
  readGpus(ctx, "gr_engine_active_ratio", { width, ratio: true, sourceQuality: 0.8 });

/** Averages over longer than this hide the run's own maximum. */
const SHARP_WINDOW_US = 2.5e6;

/** FP8 and FP4 lower tensor activity for the same work: where readings are sharp, the upper end follows the run's own maximum. */
export const tensorHigh: Fact = (ctx, row) => {
  const [lo, hi] = rampOf(row, "tensor");
  const r = readGpus(ctx, "tensor_active_ratio", { width: hi - lo, ratio: true });
  if (r === null) return null;
  const top = r.window_us <= SHARP_WINDOW_US ? clamp(0.75 * r.p99, lo, hi) : hi;
  return factOf(row.name, r, ramp(r.value, Math.min(lo, 0.6 * top), top));
};

export const dramHigh: Fact = (ctx, row) => {
  const [lo, hi] = rampOf(row, "dram");
  const r = readGpus(ctx, "dram_active_ratio", { width: hi - lo, ratio: true });
  if (r === null) return null;
  const peak = Math.max(DRAM_PEAK, r.p99 > DRAM_PEAK ? r.p99 : DRAM_PEAK_USUAL);
  const scaled = { ...r, value: r.value / peak, usual: r.usual / peak, sd: r.sd / peak };
  return factOf(row.name, scaled, ramp(scaled.value, lo, hi));
};

/** GPU idle is evidence only while requests are in flight, which the window of an incident implies. */
export const smIdle: Fact = (ctx, row) => {
  const [lo, hi] = rampOf(row, "idle");
  const r = smReading(ctx, hi - lo);
  if (r === null) return null;
  const idle = { ...r, value: 1 - r.value, usual: 1 - r.usual };
  return factOf(row.name, idle, ramp(idle.value, lo, hi));
};

export const gpuIdleGrowth: Fact = (ctx, row) => {
  const [lo, hi] = rampOf(row, "fall");
  const column = gpusHave(ctx, "gr_engine_active_ratio") ? "gr_engine_active_ratio" : "sm_active_ratio";
  const r = readGpus(ctx, column, { width: hi - lo, ratio: true });
  if (r === null || Number.isNaN(r.usual)) return null;
  const fall = r.usual - r.value;
  return factOf(row.name, r, ramp(fall, lo, hi) * ramp(fall, r.sd, 3 * r.sd + 1e-9), { value: fall, expected: 0, contrast: Number.NaN });
};

/**
 * Busy without moving data or multiplying: kernels that wait for each other. `busy` is engine activity, not SM activity (a waiting
 * collective holds few or many SMs), held against the pipes in units of their own maxima and of their usual sum.
 */
export const busyUnproductive: Fact = (ctx, row) => {
  const engine = readGpus(ctx, "gr_engine_active_ratio", { width: 0.15, ratio: true }) ?? smReading(ctx, 0.15);
  const tensor = readGpus(ctx, "tensor_active_ratio", { width: 0.25, ratio: true });
  const dram = readGpus(ctx, "dram_active_ratio", { width: 0.25, ratio: true });
  if (engine === null || tensor === null || dram === null) return null;
  const tensorTop = Math.max(rampOf(row, "prod_tensor")[0], tensor.p99);
  const dramTop = Math.max(rampOf(row, "prod_dram")[0], dram.p99);
  const usual = tensor.usual / tensorTop + dram.usual / dramTop;
  const scale = Number.isFinite(usual) ? clamp(usual, 0.5, 1) : 1;
  const productive = Math.min(1, (tensor.value / tensorTop + dram.value / dramTop) / scale);
  const gap = engine.value - productive;
  const strength = Math.min(ramp(engine.value, ...rampOf(row, "busy")), ramp(gap, ...rampOf(row, "gap")));
  const usualGap = engine.usual - Math.min(1, usual / scale);
  const quality = Math.min(engine.quality, tensor.quality, dram.quality);
  return factOf(row.name, engine, strength, { value: gap, expected: usualGap, quality, contrast: Number.NaN });
};
