import type { FactRow } from "../../../schemas/index.js";
import { ramp } from "../../core/ramp.js";
import { type EpisodeContext, type Fact, rampOf } from "../episode-context.js";
import { readGpus, readSeries } from "../reading.js";
import { factOf } from "./fact-of.js";
import { cgroupThrottle, cpuGrowth, cpuPegged, psi } from "./host-facts.js";
import { gpuIdleGrowth } from "./pipe-facts.js";
import { smiIdle } from "./smi-facts.js";
import { stallSync } from "./stall-facts.js";

const rowOf = (ctx: EpisodeContext, name: string): FactRow | undefined => ctx.table.facts.find((f) => f.name === name);

const strengthOf = (ctx: EpisodeContext, name: string, fact: Fact): number => {
  const row = rowOf(ctx, name);
  const r = row === undefined ? null : fact(ctx, row);
  return r === null ? Number.NaN : r.strength;
};

/** How undisturbed the node is in the window, from 0 to 1; NaN when neither GPU nor CPU can be seen. */
const calm = (ctx: EpisodeContext): number => {
  const gpu = [strengthOf(ctx, "gpu_idle_growth", gpuIdleGrowth), strengthOf(ctx, "smi_idle", smiIdle)].filter((x) => !Number.isNaN(x));
  const cpu = [
    strengthOf(ctx, "cpu_pegged", cpuPegged),
    strengthOf(ctx, "cpu_growth", cpuGrowth),
    strengthOf(ctx, "cg_throttle", cgroupThrottle),
    strengthOf(ctx, "psi", psi),
  ].filter((x) => !Number.isNaN(x));
  if (cpu.length === 0) return Number.NaN;
  return 1 - Math.max(...gpu, ...cpu);
};

/** Time lost where the server did not know of the request, while the node was at its usual. */
export const clientSide: Fact = (ctx, row) => {
  const outside = (ctx.phases.network ?? 0) + (ctx.phases.client_lag ?? 0);
  const before = outside + (ctx.phases.ingress ?? 0);
  const still = calm(ctx);
  if (Number.isNaN(still) && outside < rampOf(row, "share")[0]) return null;
  const quiet = Number.isNaN(still) ? 0.5 : ramp(still, ...rampOf(row, "calm"));
  const strength = Math.min(ramp(before, ...rampOf(row, "share")), quiet);
  return { fact: row.name, strength, value: before, expected: 0, quality: 1, source: "requests", contrast: Number.NaN, dose: Number.NaN };
};

/** Restarts this long before an incident still explain it: weights load and graphs are captured. */
const BEFORE_US = 60e6;

export const restart: Fact = (ctx, row) => {
  const { from, to } = ctx.incident;
  const seen = ctx.restarts.some((t) => t >= from - BEFORE_US && t <= to);
  return seen
    ? { fact: row.name, strength: 1, value: 1, expected: 0, quality: 1, source: "marks", contrast: Number.NaN, dose: Number.NaN }
    : null;
};

/** Garbage collection, a lock, a driver stall: every stream stops, and neither the GPU nor the CPU is busy. */
export const allStopped: Fact = (ctx, row) => {
  const sync = strengthOf(ctx, "stall_sync", stallSync);
  const gpu =
    readGpus(ctx, "gr_engine_active_ratio", { width: 0.3, ratio: true }) ?? readGpus(ctx, "gpu_util_ratio", { width: 0.3, ratio: true });
  if (gpu === null || !(gpu.usual > 0) || Number.isNaN(sync)) return null;
  const fall = 1 - gpu.value / gpu.usual;
  const cpu = [
    strengthOf(ctx, "cpu_pegged", cpuPegged),
    strengthOf(ctx, "cg_throttle", cgroupThrottle),
    strengthOf(ctx, "psi", psi),
  ].filter((x) => !Number.isNaN(x));
  if (cpu.length === 0) return null;
  const strength = Math.min(sync, ramp(fall, ...rampOf(row, "fall")), ramp(1 - Math.max(...cpu), ...rampOf(row, "calm")));
  return factOf(row.name, gpu, strength, { value: fall, expected: 0, contrast: Number.NaN });
};

/**
 * Memory traffic beyond what this server's tokens explain, while decode is slow and the traffic is high and not below its usual:
 * somebody else is on the GPU, or every token costs more bytes.
 */
export const sharedGpu: Fact = (ctx, row) => {
  const dram =
    readGpus(ctx, "dram_active_ratio", { width: 0.25, ratio: true }) ?? readGpus(ctx, "mem_util_ratio", { width: 0.25, ratio: true });
  if (dram === null || !(dram.usual > 0)) return null;
  const rates = ctx.group.servers.flatMap((t) => {
    const sourced = ctx.view.best([t], "generation_tokens_total", "rate");
    return sourced === null ? [] : (readSeries(ctx, sourced, { width: 100 }) ?? []);
  });
  const now = rates.reduce((a, r) => a + r.value, 0);
  const usual = rates.reduce((a, r) => a + r.usual, 0);
  if (!(usual > 0)) return null;
  const bytesPerToken = dram.value / dram.usual / Math.max(0.05, Math.min(1, now / usual));
  const busy =
    readGpus(ctx, "gr_engine_active_ratio", { width: 0.1, ratio: true }) ?? readGpus(ctx, "gpu_util_ratio", { width: 0.1, ratio: true });
  const decode = (ctx.phases.decode ?? 0) + (ctx.phases.stall ?? 0);
  const strength = Math.min(
    ramp(bytesPerToken, ...rampOf(row, "excess")),
    ramp(dram.value / dram.usual, ...rampOf(row, "held")),
    busy === null || !(busy.usual > 0) ? 0.5 : ramp(busy.value / busy.usual, ...rampOf(row, "busy")),
    ramp(decode, ...rampOf(row, "decode")),
  );
  return factOf(row.name, dram, strength, { value: bytesPerToken, expected: 1, contrast: Number.NaN });
};
