import { clamp } from "../core/ramp.js";
import { weightedMean } from "../core/window-mean.js";
import type { EpisodeContext } from "./episode-context.js";
import type { SourcedSeries } from "./telemetry-view.js";

/** One column seen through the window of one incident. */
export interface Reading {
  readonly value: number;
  readonly usual: number;
  readonly sd: number;
  readonly p99: number;
  readonly p95: number;
  /** In [0, 1]: alignment x coverage x the worse of contrast and dilution. */
  readonly quality: number;
  readonly source: string;
  /** How often the source refreshes, µs. */
  readonly window_us: number;
}

export interface ReadOptions {
  /** Width of the ramp that the reading is held against: how exact it must be. */
  readonly width: number;
  /** Quantisation and noise of one reading. */
  readonly noise?: number;
  /** Ratios are clipped to [0, 1] after un-dilution. */
  readonly ratio?: boolean;
  readonly sourceQuality?: number;
}

/** Readings outside of incidents before anything counts as usual. */
const MIN_USUAL = 2;

/** Part of the window that one momentary reading more than the first cannot vouch for. */
const MOMENTARY_HALF = 0.6;

/**
 * Mean of a series over the incident, un-diluted: a reading that covers more than the incident is a mixture with what is usual.
 * Null when no reading overlaps. See docs/adr/0004-diagnosis.md.
 */
export const readSeries = (ctx: EpisodeContext, sourced: SourcedSeries, options: ReadOptions): Reading | null => {
  const { series } = sourced;
  const { weight, support } = ctx.incident;
  const seen = weightedMean(series, weight, support);
  if (seen.readings === 0 || !Number.isFinite(seen.mean)) return null;
  const usual = ctx.view.usual(series);
  const known = usual.readings >= MIN_USUAL;
  const f = seen.dilution;
  const noise = options.noise ?? 0.01;
  const sd = known && Number.isFinite(usual.sd) ? usual.sd : 0;
  const undilute = !series.momentary && known && f < 1;
  let value = undilute ? (seen.mean - (1 - f) * usual.median) / f : seen.mean;
  if (options.ratio === true) value = clamp(value, 0, 1);
  else if (value < 0) value = 0;
  const error = undilute ? Math.sqrt(((1 - f) * sd) ** 2 + noise ** 2) / f : noise;
  const contrast = options.width ** 2 / (options.width ** 2 + error ** 2);
  const duration = incidentDuration(ctx);
  const window = seriesWindow(sourced, ctx);
  const sigma = Math.sqrt(ctx.clockSigma_us ** 2 + ctx.view.lagSigma_us(sourced.track, window) ** 2);
  const alignment = Math.max(0, 1 - (0.8 * sigma) / Math.max(duration, window));
  const coverage = series.momentary ? Math.max(seen.coverage, seen.readings / (seen.readings + MOMENTARY_HALF)) : seen.coverage;
  const quality = alignment * coverage * Math.min(contrast, Math.sqrt(Math.min(1, f))) * (options.sourceQuality ?? 1);
  return {
    value,
    usual: known ? usual.median : Number.NaN,
    sd: known ? usual.sd : Number.NaN,
    p99: usual.p99,
    p95: usual.p95,
    quality,
    source: sourced.source.name,
    window_us: window,
  };
};

/** Time in which the incident lost time, µs. */
export const incidentDuration = (ctx: EpisodeContext): number => {
  const { support } = ctx.incident;
  return support.integral[support.at.length - 1]!;
};

const seriesWindow = (sourced: SourcedSeries, ctx: EpisodeContext): number => {
  const every = ctx.view.refresh(sourced.track).refresh_us;
  return Number.isFinite(every) ? every : 1e6;
};

/** Mean of the readings of several entities (the GPUs of one server); null when none can be read. */
export const meanReading = (readings: readonly (Reading | null)[]): Reading | null => {
  const there = readings.filter((r): r is Reading => r !== null);
  if (there.length === 0) return null;
  const mean = (pick: (r: Reading) => number) => there.reduce((a, r) => a + pick(r), 0) / there.length;
  return {
    value: mean((r) => r.value),
    usual: mean((r) => r.usual),
    sd: mean((r) => r.sd),
    p99: mean((r) => r.p99),
    p95: mean((r) => r.p95),
    quality: mean((r) => r.quality),
    source: there[0]!.source,
    window_us: mean((r) => r.window_us),
  };
};

/** Robust sigmas of a reading above what is usual; NaN where nothing is usual. */
export const contrastOf = (r: Reading, floor: number): number => (r.value - r.usual) / Math.max(r.sd, floor);

/** One GPU column over all GPUs of the server. */
export const readGpus = (ctx: EpisodeContext, column: string, options: ReadOptions): Reading | null =>
  meanReading(
    ctx.group.gpus.map((tracks) => {
      const sourced = ctx.view.best(tracks, column);
      return sourced === null ? null : readSeries(ctx, sourced, options);
    }),
  );

/** True when the GPUs have the column at all. */
export const gpusHave = (ctx: EpisodeContext, column: string): boolean =>
  ctx.group.gpus.some((tracks) => tracks.some((t) => t.columns[column] !== undefined));
