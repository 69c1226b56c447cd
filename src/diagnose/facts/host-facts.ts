import type { Track } from "../../../schemas/index.js";
import { clamp, ramp } from "../../core/ramp.js";
import { type EpisodeContext, type Fact, rampOf } from "../episode-context.js";
import { type Reading, type ReadOptions, readSeries } from "../reading.js";
import type { SourcedSeries } from "../telemetry-view.js";
import { factOf } from "./fact-of.js";
import { arrivalRatio } from "./trace-facts.js";

const readBest = (ctx: EpisodeContext, sourced: SourcedSeries | null, options: ReadOptions): Reading | null =>
  sourced === null ? null : readSeries(ctx, sourced, options);

const rate = (ctx: EpisodeContext, tracks: readonly Track[], column: string, options: ReadOptions): Reading | null =>
  readBest(ctx, ctx.view.best(tracks, column, "rate"), options);

const role = (tracks: readonly Track[]): string => tracks[0]?.entity.labels.role ?? "";

const CORE: ReadOptions = { width: 0.17, noise: 0.02 };

/** Candidates of "the busiest serving process", each as a share of what it may use: one core for a Python process or thread. */
const pegCandidates = (ctx: EpisodeContext): Reading[] => {
  const out: Reading[] = [];
  const push = (r: Reading | null) => {
    if (r !== null) out.push(r);
  };
  for (const t of ctx.group.servers) push(rate(ctx, [t], "process_cpu_s_total", CORE));
  for (const tracks of ctx.group.processes) {
    const hottest = readBest(ctx, ctx.view.best(tracks, "hottest_thread_cores"), CORE);
    push(hottest);
    const cpu = rate(ctx, tracks, "cpu_s_total", CORE);
    if (cpu === null) continue;
    const whole = role(tracks) === "container" || role(tracks) === "cgroup";
    const limit = readBest(ctx, ctx.view.best(tracks, "cpu_limit_cores"), CORE)?.value ?? Number.NaN;
    // Several busy threads are no pegged one: the whole process speaks only where its threads were not read.
    if (!whole && hottest === null) out.push(cpu);
    else if (!whole) continue;
    else if (limit > 0) out.push({ ...cpu, value: cpu.value / limit, usual: cpu.usual / limit, sd: cpu.sd / limit });
  }
  return out;
};

/** A poller is pegged all along: only what rose above its usual counts. */
export const cpuPegged: Fact = (ctx, row) => {
  let best: Reading | null = null;
  let strongest = -1;
  for (const r of pegCandidates(ctx)) {
    const growth = Number.isNaN(r.usual) ? 1 : ramp(r.value - r.usual, ...rampOf(row, "growth"));
    const strength = Math.min(ramp(r.value, ...rampOf(row, "cores")), growth);
    if (strength > strongest || (strength === strongest && best !== null && r.value > best.value)) {
      strongest = strength;
      best = r;
    }
  }
  return best === null ? null : factOf(row.name, best, strongest, { contrast: Number.NaN });
};

const containers = (ctx: EpisodeContext): (readonly Track[])[] => {
  const whole = ctx.group.processes.filter((p) => role(p) === "container" || role(p) === "cgroup");
  return whole.length > 0 ? whole : [...ctx.group.processes];
};

/** CPU used beyond what the arrivals explain. */
export const cpuGrowth: Fact = (ctx, row) => {
  const readings = containers(ctx).flatMap((tracks) => rate(ctx, tracks, "cpu_s_total", { width: 0.5, noise: 0.03 }) ?? []);
  if (readings.length === 0)
    for (const t of ctx.group.servers) {
      const r = rate(ctx, [t], "process_cpu_s_total", { width: 0.5, noise: 0.03 });
      if (r !== null) readings.push(r);
    }
  const top = readings.reduce<Reading | null>((a, r) => (a === null || r.value - r.usual > a.value - a.usual ? r : a), null);
  if (top === null || Number.isNaN(top.usual)) return null;
  const load = arrivalRatio(ctx);
  const explained = top.usual * (Number.isFinite(load) ? clamp(load, 1, 4) : 1);
  const growth = top.value - explained;
  return factOf(row.name, top, ramp(growth, ...rampOf(row, "cores")), { value: growth, expected: 0, contrast: Number.NaN });
};

export const cgroupThrottle: Fact = (ctx, row) => {
  let best: ReturnType<Fact> = null;
  for (const tracks of ctx.group.processes) {
    for (const t of tracks) {
      const series = ctx.view.ratio(t, "cfs_throttled_periods_total", "cfs_periods_total");
      if (series.n === 0) continue;
      const r = readSeries(ctx, { series, source: t.source, track: t }, { width: 0.2, ratio: true });
      if (r === null) continue;
      const lost = rate(ctx, [t], "cfs_throttled_s_total", { width: 0.3 });
      const reading = factOf(row.name, r, ramp(r.value, ...rampOf(row, "share")), {
        contrast: Number.NaN,
        dose: lost === null ? Number.NaN : clamp(lost.value, 0, 1),
      });
      if (best === null || reading.strength > best.strength) best = reading;
    }
  }
  return best;
};

/** Pressure of the serving group where it is measured, else of the node. */
const pressure = (ctx: EpisodeContext, column: string): Reading | null => {
  const options: ReadOptions = { width: 0.3, ratio: true };
  for (const tracks of ctx.group.processes) {
    const r = rate(ctx, tracks, column, options);
    if (r !== null) return r;
  }
  return rate(ctx, ctx.group.hosts, column, options);
};

export const psi: Fact = (ctx, row) => {
  const r = pressure(ctx, "psi_cpu_some_s_total");
  if (r === null) return null;
  const level = ramp(r.value, ...rampOf(row, "pressure"));
  const rose = Number.isNaN(r.usual) ? 1 : ramp(r.value - r.usual, 0.02, 0.1);
  return factOf(row.name, r, Math.min(level, rose), { contrast: Number.NaN });
};

export const ioPressure: Fact = (ctx, row) => {
  const readings = ["psi_io_some_s_total", "psi_mem_some_s_total"].flatMap((c) => pressure(ctx, c) ?? []);
  const top = readings.reduce<Reading | null>((a, r) => (a === null || r.value > a.value ? r : a), null);
  if (top === null) return null;
  const rose = Number.isNaN(top.usual) ? 1 : ramp(top.value - top.usual, 0.05, 0.2);
  return factOf(row.name, top, Math.min(ramp(top.value, ...rampOf(row, "pressure")), rose), { contrast: Number.NaN });
};

export const cpuSteal: Fact = (ctx, row) => {
  const steal = rate(ctx, ctx.group.hosts, "cpu_steal_s_total", { width: 0.1 });
  const parts = ["cpu_user_s_total", "cpu_system_s_total", "cpu_idle_s_total", "cpu_iowait_s_total"].map((c) =>
    rate(ctx, ctx.group.hosts, c, { width: 1 }),
  );
  const total = parts.reduce((a, r) => a + (r?.value ?? 0), steal?.value ?? 0);
  if (steal === null || !(total > 0)) return null;
  const share: Reading = { ...steal, value: steal.value / total, usual: steal.usual / total, sd: steal.sd / total };
  return factOf(row.name, share, ramp(share.value, ...rampOf(row, "steal")), { contrast: Number.NaN });
};

export const runWait: Fact = (ctx, row) => {
  const readings = ctx.group.processes.flatMap((p) => rate(ctx, p, "run_wait_s_total", { width: 0.6 }) ?? []);
  const top = readings.reduce<Reading | null>((a, r) => (a === null || r.value > a.value ? r : a), null);
  if (top === null) return null;
  const rise = top.value - (Number.isNaN(top.usual) ? 0 : top.usual);
  return factOf(row.name, top, ramp(rise, ...rampOf(row, "wait")), { contrast: Number.NaN });
};
