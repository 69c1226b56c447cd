import { ramp } from "../../core/ramp.js";
import { lastAtOrBefore, valueAt } from "../../core/step-function.js";
import { type EpisodeContext, type Fact, rampOf } from "../episode-context.js";
import { incidentDuration, meanReading, type Reading, type ReadOptions, readSeries } from "../reading.js";
import type { SourcedSeries } from "../telemetry-view.js";
import { factOf } from "./fact-of.js";

const eachServer = (ctx: EpisodeContext, column: string, options: ReadOptions, kind: "level" | "rate" = "level"): Reading[] =>
  ctx.group.servers.flatMap((t) => {
    const sourced = ctx.view.best([t], column, kind);
    const r = sourced === null ? null : readSeries(ctx, sourced, options);
    return r === null ? [] : [r];
  });

/** Sum over the engines of one server. */
const sumOf = (readings: readonly Reading[]): Reading | null => {
  const mean = meanReading(readings);
  if (mean === null) return null;
  const n = readings.length;
  return { ...mean, value: mean.value * n, usual: mean.usual * n, p99: mean.p99 * n };
};

/** The engine whose reading is highest. */
const highest = (readings: readonly Reading[]): Reading | null =>
  readings.reduce<Reading | null>((best, r) => (best === null || r.value > best.value ? r : best), null);

const usageReading = (ctx: EpisodeContext): Reading | null => highest(eachServer(ctx, "kv_usage_ratio", { width: 0.12, ratio: true }));

const waitingReading = (ctx: EpisodeContext): Reading | null => sumOf(eachServer(ctx, "waiting", { width: 3, noise: 0.5 }));

const runningReading = (ctx: EpisodeContext): Reading | null => sumOf(eachServer(ctx, "running", { width: 5, noise: 1 }));

/** The limit of running requests: the gauge, or the manifest; NaN when neither tells. */
const maxRunning = (ctx: EpisodeContext): number => {
  const gauge = sumOf(eachServer(ctx, "max_running", { width: 1 }));
  const told = Number(ctx.manifest.max_num_seqs ?? ctx.manifest.max_running_requests ?? Number.NaN);
  return gauge?.value ?? told;
};

export const kvFull: Fact = (ctx, row) => {
  const r = usageReading(ctx);
  return r === null ? null : factOf(row.name, r, ramp(r.value, ...rampOf(row, "usage")));
};

export const preempt: Fact = (ctx, row) => {
  const counted = sumOf(eachServer(ctx, "preemptions_total", { width: 0.5, noise: 0.02 }, "rate"));
  const r = counted ?? sumOf(eachServer(ctx, "retracted", { width: 0.5, noise: 0.02 }));
  return r === null ? null : factOf(row.name, r, ramp(r.value, ...rampOf(row, "rate")));
};

/**
 * Requests were thrown out of the KV cache while others waited: it ran out, whatever its mean usage over a window that holds the drain.
 * Gives no weight; silences what a low mean would say.
 */
export const preemptWait: Fact = (ctx, row) => {
  const rate = sumOf(eachServer(ctx, "preemptions_total", { width: 0.5, noise: 0.02 }, "rate"));
  const waiting = waitingReading(ctx);
  if (rate === null || waiting === null) return null;
  const thrown = (rate.value * incidentDuration(ctx)) / 1e6;
  const strength = Math.min(ramp(thrown, ...rampOf(row, "thrown")), ramp(waiting.value, ...rampOf(row, "waiting")));
  return factOf(row.name, rate, strength, { value: thrown, expected: 0, quality: 1, contrast: Number.NaN });
};

export const waitKvFull: Fact = (ctx, row) => {
  const waiting = waitingReading(ctx);
  const usage = usageReading(ctx);
  if (waiting === null || usage === null) return null;
  const full = ctx.table.facts.find((f) => f.name === "kv_full");
  const limit = maxRunning(ctx);
  const running = runningReading(ctx);
  const free = Number.isFinite(limit) && running !== null ? ramp(running.value / limit, ...rampOf(row, "running")) : 1;
  const strength = Math.min(
    ramp(waiting.value, ...rampOf(row, "waiting")),
    full === undefined ? 0 : ramp(usage.value, ...rampOf(full, "usage")),
    free,
  );
  return factOf(row.name, waiting, strength, { quality: Math.min(waiting.quality, usage.quality), contrast: Number.NaN });
};

export const waitKvLow: Fact = (ctx, row) => {
  const waiting = waitingReading(ctx);
  const usage = usageReading(ctx);
  if (waiting === null || usage === null) return null;
  const strength = Math.min(ramp(waiting.value, ...rampOf(row, "waiting")), 1 - ramp(usage.value, ...rampOf(row, "usage")));
  return factOf(row.name, waiting, strength, { quality: Math.min(waiting.quality, usage.quality), contrast: Number.NaN });
};

/** Below this usage an error of the resident tokens would swamp the free space. */
const HEAD_MIN_USAGE = 0.5;

/** Need of the oldest waiting request against the free KV cache, at the times of the gauge; resident tokens from the trace. */
export const kvHeadBlocked: Fact = (ctx, row) => {
  const track = ctx.group.servers.find((t) => t.columns.kv_usage_ratio !== undefined && t.columns.waiting !== undefined);
  if (track === undefined || ctx.group.servers.length > 1) return null;
  const { incident, load, q } = ctx;
  const usage = track.columns.kv_usage_ratio!;
  const waiting = track.columns.waiting!;
  const capacity = track.columns.kv_capacity_tokens;
  const lag = ctx.view.lag_us(track);
  let weight = 0;
  let blocked = 0;
  let readings = 0;
  for (let i = Math.max(0, lastAtOrBefore(track.ts_us, incident.from + lag)); i < track.ts_us.length; i++) {
    const t = track.ts_us[i]! - lag;
    if (t > incident.to) break;
    const w = valueAt(incident.weight, t);
    if (!(w > 0) || !(waiting[i]! >= 1) || !(usage[i]! >= HEAD_MIN_USAGE)) {
      if (w > 0 && Number.isFinite(waiting[i]!)) weight += w;
      continue;
    }
    const size = capacity?.[i] ?? Number.NaN;
    const total = Number.isFinite(size) ? size : valueAt(load.resident, t) / ctx.traceShare / usage[i]!;
    const free = total * (1 - usage[i]!);
    const oldest = oldestPending(q, t);
    if (oldest < 0 || !(total > 0) || !Number.isFinite(q.uncached[oldest]!)) continue;
    blocked += w * ramp(q.uncached[oldest]! / Math.max(1, free), ...rampOf(row, "need"));
    weight += w;
    readings++;
  }
  if (!(weight > 0) || readings === 0) return null;
  const strength = blocked / weight;
  return {
    fact: row.name,
    strength,
    value: strength,
    expected: Number.NaN,
    quality: readings / (readings + 0.6),
    source: track.source.name,
    contrast: Number.NaN,
    dose: Number.NaN,
  };
};

/** The request that has waited longest for its first token at `t`; -1 when none waits. Arrivals ascend, waits are bounded. */
const oldestPending = (q: EpisodeContext["q"], t: number): number => {
  const last = lastAtOrBefore(q.arrival, t);
  for (let i = Math.max(0, last - 1000); i <= last; i++) if (q.first[i]! > t) return i;
  return -1;
};

export const hitDrop: Fact = (ctx, row) => {
  const pick = (t: EpisodeContext["group"]["servers"][number]): SourcedSeries | null => {
    for (const [hits, queries] of [
      ["prefix_hits_total", "prefix_queries_total"],
      ["prompt_tokens_cached_total", "prompt_tokens_total"],
    ] as const) {
      const series = ctx.view.ratio(t, hits, queries);
      if (series.n > 0) return { series, source: t.source, track: t };
    }
    return ctx.view.best([t], "prefix_hit_ratio");
  };
  const r = meanReading(
    ctx.group.servers.map((t) => {
      const sourced = pick(t);
      return sourced === null ? null : readSeries(ctx, sourced, { width: 0.25, ratio: true });
    }),
  );
  if (r === null || Number.isNaN(r.usual)) return null;
  const usage = usageReading(ctx);
  const full = usage === null ? 0.5 : ramp(usage.value, 0.85, 0.97);
  const fall = r.usual - r.value;
  return factOf(row.name, r, ramp(fall, ...rampOf(row, "fall")) * (0.3 + 0.7 * full), { value: fall, expected: 0, contrast: Number.NaN });
};

/** Readings with requests waiting before a flat number of running ones is taken for a limit. */
const FLAT_READINGS = 4;
/** Of so many slots one may just have come free when they were counted. */
const FREE_SLOT_FROM = 8;

/**
 * Share of the incident's readings with requests waiting in which exactly as many ran as ever do: a limit that no one states. A GPU that is
 * short lets the number float. NaN with too few readings.
 */
const runningFlat = (ctx: EpisodeContext): number => {
  if (ctx.group.servers.length !== 1) return Number.NaN;
  const { ts_us, columns } = ctx.group.servers[0]!;
  const { running, waiting } = columns;
  if (running === undefined || waiting === undefined) return Number.NaN;
  const lag = ctx.view.lag_us(ctx.group.servers[0]!);
  let most = 0;
  for (const v of running) if (v > most) most = v;
  let flat = 0;
  let all = 0;
  for (let i = 0; i < ts_us.length; i++) {
    const t = ts_us[i]! - lag;
    if (t < ctx.incident.from || t > ctx.incident.to || !(waiting[i]! >= 1)) continue;
    all++;
    if (running[i]! >= most - (most >= FREE_SLOT_FROM ? 1 : 0)) flat++;
  }
  return all < FLAT_READINGS || most < 2 ? Number.NaN : flat / all;
};

/** Requests wait although memory is free, because no more may run: a limit, none of the five resources. */
export const admissionLimit: Fact = (ctx, row) => {
  const waiting = waitingReading(ctx);
  const usage = usageReading(ctx);
  const running = runningReading(ctx);
  const limit = maxRunning(ctx);
  if (waiting === null || running === null) return null;
  const reached = limit > 0 ? ramp(running.value / limit, ...rampOf(row, "running")) : ramp(runningFlat(ctx), ...rampOf(row, "flat"));
  if (Number.isNaN(reached)) return null;
  const strength = Math.min(
    ramp(waiting.value, ...rampOf(row, "waiting")),
    reached,
    usage === null ? 0.5 : 1 - ramp(usage.value, ...rampOf(row, "usage")),
  );
  return factOf(row.name, waiting, strength, { contrast: Number.NaN });
};

/** A busy front end answers its own metrics late and refuses connections. */
export const slowFrontEnd: Fact = (ctx, row) => {
  const r = highest(eachServer(ctx, "scrape_duration_s", { width: 0.1, noise: 0.005 }));
  if (r === null || !(r.usual > 0)) return null;
  const rise = r.value / Math.max(r.usual, 0.005);
  return factOf(row.name, r, r.value > 0.05 ? ramp(rise, ...rampOf(row, "rise")) : 0, { value: rise, expected: 1, contrast: Number.NaN });
};
