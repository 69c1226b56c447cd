import { ramp } from "../../core/ramp.js";
import { type EpisodeContext, type Fact, rampOf } from "../episode-context.js";
import { gpusHave, type Reading, readGpus } from "../reading.js";
import { factOf } from "./fact-of.js";

/**
 * What nvidia-smi can tell without profiling fields. Utilization is the share of time with any kernel and memory utilization the share
 * of time with memory traffic: only their changes against the run's own usual say something.
 */
const profiled = (ctx: EpisodeContext): boolean => gpusHave(ctx, "dram_active_ratio") && gpusHave(ctx, "tensor_active_ratio");

interface SmiReadings {
  readonly util: Reading;
  readonly memory: Reading;
  readonly power: Reading | null;
}

const read = (ctx: EpisodeContext): SmiReadings | null => {
  if (profiled(ctx)) return null;
  const util = readGpus(ctx, "gpu_util_ratio", { width: 0.1, ratio: true, noise: 0.03 });
  const memory = readGpus(ctx, "mem_util_ratio", { width: 0.25, ratio: true, noise: 0.03 });
  const power = readGpus(ctx, "power_w", { width: 100, noise: 5 });
  return util === null || memory === null ? null : { util, memory, power };
};

/** Relative fall against the usual; NaN where nothing is usual. */
const fall = (r: Reading): number => (r.usual > 0 ? 1 - r.value / r.usual : Number.NaN);

const quality = (s: SmiReadings): number => Math.min(s.util.quality, s.memory.quality, s.power?.quality ?? 1);

export const smiPrefill: Fact = (ctx, row) => {
  const s = read(ctx);
  if (s === null || s.power === null || Number.isNaN(fall(s.memory))) return null;
  const strength = Math.min(
    ramp(s.util.value, ...rampOf(row, "util")),
    ramp(fall(s.memory), ...rampOf(row, "memory_fall")),
    ramp(-fall(s.power), ...rampOf(row, "power_change")),
  );
  return factOf(row.name, s.util, strength, { quality: quality(s), contrast: Number.NaN });
};

export const smiSpin: Fact = (ctx, row) => {
  const s = read(ctx);
  if (s === null || s.power === null || Number.isNaN(fall(s.memory))) return null;
  const strength = Math.min(
    ramp(s.util.value, ...rampOf(row, "util")),
    ramp(fall(s.memory), ...rampOf(row, "memory_fall")),
    ramp(fall(s.power), ...rampOf(row, "power_fall")),
  );
  return factOf(row.name, s.util, strength, { quality: quality(s), contrast: Number.NaN });
};

/** Strength at which the fact's weights cancel: memory utilization as it always is says nothing. */
const NEUTRAL = 0.31;

/** High memory utilization, or one that rose; only a fall speaks against memory. */
export const memoryUtilHigh: Fact = (ctx, row) => {
  const s = read(ctx);
  if (s === null) return null;
  const level = ramp(s.memory.value, ...rampOf(row, "use"));
  const rise = ramp(s.memory.value - s.memory.usual, ...rampOf(row, "rise"));
  const known = !Number.isNaN(rise);
  const held = known ? NEUTRAL * (1 - ramp(fall(s.memory), 0.05, 0.2)) : 0;
  const strength = known ? Math.max(held, Math.min(level, 0.5 + 0.5 * rise), 0.8 * rise) : level;
  return factOf(row.name, s.memory, strength, { quality: quality(s), contrast: Number.NaN });
};

/** Decode is slow all along while the GPU is no less busy and memory traffic held: what remains is memory bandwidth. */
export const decodeSaturated: Fact = (ctx, row) => {
  const s = read(ctx);
  if (s === null || Number.isNaN(fall(s.memory)) || !(s.util.usual > 0)) return null;
  const strength = Math.min(
    ramp(ctx.phases.decode ?? 0, ...rampOf(row, "decode")),
    ramp(s.util.value / s.util.usual, ...rampOf(row, "util_held")),
    ramp(-fall(s.memory), ...rampOf(row, "memory_held")),
  );
  return factOf(row.name, s.util, strength, {
    value: ctx.phases.decode ?? 0,
    expected: Number.NaN,
    quality: quality(s),
    contrast: Number.NaN,
  });
};

export const smiIdle: Fact = (ctx, row) => {
  if (gpusHave(ctx, "gr_engine_active_ratio") || gpusHave(ctx, "sm_active_ratio")) return null;
  const util = readGpus(ctx, "gpu_util_ratio", { width: 0.25, ratio: true, noise: 0.03 });
  if (util === null) return null;
  const idle = { ...util, value: 1 - util.value, usual: 1 - util.usual };
  const growth = ramp(idle.value - idle.usual, ...rampOf(row, "fall"));
  const strength = Math.max(
    Math.min(ramp(idle.value, ...rampOf(row, "idle")), Number.isNaN(growth) ? 1 : growth),
    Number.isNaN(growth) ? 0 : growth,
  );
  return factOf(row.name, idle, strength, { contrast: Number.NaN });
};
