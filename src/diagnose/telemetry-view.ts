import type { TelemetrySource, Track, WorkModel } from "../../schemas/index.js";
import { type IntervalSeries, levelSeries, rateSeries, ratioSeries } from "../core/interval-series.js";
import { median, sortedFinite } from "../core/quantile.js";
import { measureRefresh, type Refresh } from "../core/refresh.js";
import { robustSd } from "../core/robust-scale.js";
import { integralOver, type StepFunction } from "../core/step-function.js";

/** A series with the name of the source that carries it. */
export interface SourcedSeries {
  readonly series: IntervalSeries;
  readonly source: TelemetrySource;
  readonly track: Track;
}

/** What is usual outside of incidents. */
export interface Usual {
  readonly median: number;
  readonly sd: number;
  readonly p99: number;
  readonly p95: number;
  readonly readings: number;
}

/** A reading counts as undisturbed while incidents fill no more than this share of its window. */
const QUIET_SHARE = 0.2;

/** By how much a source's stamps are late, as its readings follow the load. */
export interface MeasuredLag {
  readonly lag_us: number;
  /** Correlation of the readings with the load of the trace at this lag. */
  readonly rho: number;
}

export const lagKey = (track: Track): string => `${track.entity.kind}\u0000${track.source.name}\u0000${track.source.node}`;

/** A measured lag is found to about its step. */
const LAG_SIGMA_US = 100e3;

/** Fewer undisturbed readings cannot say what is usual. */
const MIN_QUIET = 3;

/** Cached access to the telemetry of a run as intervals on the axis of the requests. */
export class TelemetryView {
  readonly #refresh = new Map<Track, Refresh>();
  readonly #series = new Map<Track, Map<string, IntervalSeries>>();
  readonly #usual = new Map<IntervalSeries, Usual>();
  /** What each series is called, by what it is of: `KIND.COLUMN`. */
  readonly #names = new WeakMap<IntervalSeries, string>();
  readonly #baseline: WorkModel["usual"];
  #lags: ReadonlyMap<string, MeasuredLag> = new Map();
  /** Where incidents lie: what is usual is measured elsewhere. */
  #disturbed: StepFunction | null = null;

  /** `baseline`: what is usual in another run, where this one has nothing undisturbed. */
  constructor(baseline: WorkModel["usual"] = {}) {
    this.#baseline = baseline;
  }

  setDisturbed(f: StepFunction): void {
    this.#disturbed = f;
    this.#usual.clear();
  }

  refresh(track: Track): Refresh {
    let found = this.#refresh.get(track);
    if (found === undefined) {
      found = measureRefresh(track);
      this.#refresh.set(track, found);
    }
    return found;
  }

  /** Takes lags that were measured, by `lagKey`, for sources that state none; series read before are read anew. */
  setLags(lags: ReadonlyMap<string, MeasuredLag>): void {
    this.#lags = lags;
    for (const track of [...this.#series.keys()]) if (lags.has(lagKey(track))) this.#series.delete(track);
  }

  measuredLag(track: Track): MeasuredLag | null {
    return track.source.lag_ms === null ? (this.#lags.get(lagKey(track)) ?? null) : null;
  }

  lag_us(track: Track): number {
    return track.source.lag_ms === null ? (this.measuredLag(track)?.lag_us ?? 0) : track.source.lag_ms * 1000;
  }

  /** How unsure the lag is, µs: nothing where the source states it, a quarter of a window where nothing tells. */
  lagSigma_us(track: Track, window_us: number): number {
    if (track.source.lag_ms !== null) return 0;
    return this.measuredLag(track) === null ? window_us / 4 : LAG_SIGMA_US;
  }

  /** A series computed from others of the track, made once. */
  derived(track: Track, key: string, make: () => IntervalSeries): IntervalSeries {
    let columns = this.#series.get(track);
    if (columns === undefined) {
      columns = new Map();
      this.#series.set(track, columns);
    }
    let series = columns.get(key);
    if (series === undefined) {
      series = make();
      columns.set(key, series);
      this.#names.set(series, `${track.entity.kind}.${key}`);
    }
    return series;
  }

  #timing(track: Track) {
    const window = track.source.window_ms;
    return { refresh: this.refresh(track), lag_us: this.lag_us(track), window_us: window === null ? Number.NaN : window * 1000 };
  }

  level(track: Track, column: string): IntervalSeries {
    return this.derived(track, column, () => levelSeries(track, column, this.#timing(track)));
  }

  rate(track: Track, column: string): IntervalSeries {
    return this.derived(track, `rate:${column}`, () => rateSeries(track, column, this.#timing(track)));
  }

  ratio(track: Track, over: string, under: string): IntervalSeries {
    return this.derived(track, `${over}/${under}`, () => ratioSeries(this.rate(track, over), this.rate(track, under)));
  }

  /** The best of several sources of one entity's column: the one that refreshes fastest, then the one first by name. */
  best(tracks: readonly Track[], column: string, kind: "level" | "rate" = "level"): SourcedSeries | null {
    let found: SourcedSeries | null = null;
    let fastest = Number.POSITIVE_INFINITY;
    for (const track of tracks) {
      if (track.columns[column] === undefined) continue;
      const series = kind === "level" ? this.level(track, column) : this.rate(track, column);
      const every = this.refresh(track).refresh_us;
      if (series.n === 0) continue;
      const rank = Number.isFinite(every) ? every : 1e15;
      if (rank < fastest) {
        fastest = rank;
        found = { series, source: track.source, track };
      }
    }
    return found;
  }

  usual(series: IntervalSeries): Usual {
    let found = this.#usual.get(series);
    if (found === undefined) {
      found = this.#measureUsual(series);
      this.#usual.set(series, found);
    }
    return found;
  }

  #measureUsual(series: IntervalSeries): Usual {
    const quiet: number[] = [];
    for (let i = 0; i < series.n; i++) {
      const length = series.to[i]! - series.from[i]!;
      const touched = this.#disturbed === null ? 0 : integralOver(this.#disturbed, series.from[i]!, series.to[i]!);
      if (touched <= QUIET_SHARE * length) quiet.push(series.value[i]!);
    }
    const all = sortedFinite(series.value);
    const at = (p: number) => (all.length === 0 ? Number.NaN : all[Math.min(all.length - 1, Math.floor(p * all.length))]!);
    const other = this.#baseline[this.#names.get(series) ?? ""];
    if (other !== undefined && quiet.length < MIN_QUIET)
      return { ...other, p99: Math.max(at(0.99), other.median), p95: Math.max(at(0.95), other.median), readings: MIN_QUIET };
    return {
      median: median(quiet),
      sd: quiet.length >= 3 ? robustSd(quiet) : Number.NaN,
      p99: at(0.99),
      p95: at(0.95),
      readings: quiet.length,
    };
  }
}
