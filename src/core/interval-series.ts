import { type ColumnSpec, columnSpec, type Track } from "../../schemas/index.js";
import type { Refresh } from "./refresh.js";
import { lastAtOrBefore } from "./step-function.js";

/**
 * One telemetry column as intervals: reading i is the mean (or the state) over [from[i], to[i]). Intervals ascend and do not overlap.
 * Times are µs on the axis of the requests; readings are finite.
 */
export interface IntervalSeries {
  readonly n: number;
  readonly from: Float64Array;
  readonly to: Float64Array;
  readonly value: Float64Array;
  /** Momentary readings stand for the time around them; their coverage counts readings rather than time. */
  readonly momentary: boolean;
}

export const EMPTY_SERIES: IntervalSeries = {
  n: 0,
  from: new Float64Array(0),
  to: new Float64Array(0),
  value: new Float64Array(0),
  momentary: true,
};

/** A gap longer than this many refreshes is a gap: what lies in it is unknown. */
const GAP = 2.5;

export interface SeriesTiming {
  readonly refresh: Refresh;
  /** Reporting lag removed from every stamp, µs. */
  readonly lag_us: number;
  /** Declared averaging window of `interval` columns, µs; NaN = since the previous refresh. */
  readonly window_us: number;
}

/** A level (gauge, ratio, mask, code) of a track as intervals; counters go through `rateSeries`. */
export const levelSeries = (track: Track, column: string, timing: SeriesTiming): IntervalSeries => {
  const values = track.columns[column];
  const spec = columnSpec(track.entity.kind, column);
  if (values === undefined || spec === undefined) return EMPTY_SERIES;
  const skip = spec.window === "interval" ? timing.refresh.repeated : null;
  const ts: number[] = [];
  const kept: number[] = [];
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i]!) || skip?.[i] === 1) continue;
    ts.push(track.ts_us[i]! - timing.lag_us);
    kept.push(values[i]!);
  }
  return spec.window === "interval" ? averaged(ts, kept, timing) : momentary(ts, kept, spec, timing.refresh.interval_us);
};

const averaged = (ts: readonly number[], value: readonly number[], timing: SeriesTiming): IntervalSeries => {
  const n = ts.length;
  const usual = Number.isFinite(timing.refresh.refresh_us) ? timing.refresh.refresh_us : 1e6;
  const from = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const since = i > 0 ? ts[i]! - ts[i - 1]! : usual;
    const length = since > GAP * usual ? usual : since;
    from[i] = ts[i]! - (Number.isFinite(timing.window_us) ? Math.min(timing.window_us, since) : length);
  }
  return { n, from, to: Float64Array.from(ts), value: Float64Array.from(value), momentary: false };
};

/** A state read at an instant, or averaged over a short fixed window, stands for the time up to half way to its neighbours. */
const momentary = (ts: readonly number[], value: readonly number[], spec: ColumnSpec, interval_us: number): IntervalSeries => {
  const n = ts.length;
  const half = (Number.isFinite(interval_us) ? interval_us : 1e6) / 2;
  const back = typeof spec.window === "number" ? Math.min(spec.window * 500, half) : 0;
  const from = new Float64Array(n);
  const to = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const centre = ts[i]! - back;
    const before = i > 0 ? Math.min((ts[i]! - ts[i - 1]!) / 2, GAP * half) : half;
    const after = i + 1 < n ? Math.min((ts[i + 1]! - ts[i]!) / 2, GAP * half) : half;
    from[i] = centre - before;
    to[i] = centre + after;
  }
  return { n, from, to, value: Float64Array.from(value), momentary: true };
};

/**
 * A counter as rates per second between neighbouring readings: exact, whatever the scrape rate. A fall (reset), a change of the
 * clock epoch and a stretch without readings start a new segment; nothing is interpolated across it.
 */
export const rateSeries = (track: Track, column: string, timing: SeriesTiming): IntervalSeries => {
  const values = track.columns[column];
  if (values === undefined) return EMPTY_SERIES;
  const from: number[] = [];
  const to: number[] = [];
  const rate: number[] = [];
  let last = -1;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i]!)) continue;
    if (last >= 0 && values[i]! >= values[last]! && track.epoch[i] === track.epoch[last]) {
      from.push(track.ts_us[last]! - timing.lag_us);
      to.push(track.ts_us[i]! - timing.lag_us);
      rate.push((values[i]! - values[last]!) / ((track.ts_us[i]! - track.ts_us[last]!) / 1e6));
    }
    last = i;
  }
  return { n: rate.length, from: Float64Array.from(from), to: Float64Array.from(to), value: Float64Array.from(rate), momentary: false };
};

/** Pointwise ratio of two series with the same intervals (two counters of one track); 0/0 is left out. */
export const ratioSeries = (over: IntervalSeries, under: IntervalSeries): IntervalSeries => {
  const from: number[] = [];
  const to: number[] = [];
  const value: number[] = [];
  for (let i = 0, j = 0; i < over.n; i++) {
    while (j < under.n && under.from[j]! < over.from[i]!) j++;
    if (j >= under.n || under.from[j] !== over.from[i] || under.to[j] !== over.to[i] || !(under.value[j]! > 0)) continue;
    from.push(over.from[i]!);
    to.push(over.to[i]!);
    value.push(over.value[i]! / under.value[j]!);
  }
  return {
    n: value.length,
    from: Float64Array.from(from),
    to: Float64Array.from(to),
    value: Float64Array.from(value),
    momentary: over.momentary,
  };
};

/** Last reading whose interval began at or before `t` and is no older than `tolerance_us`; NaN when there is none. */
export const asOf = (series: IntervalSeries, t: number, tolerance_us: number): number => {
  const i = lastAtOrBefore(series.from, t);
  return i < 0 || t - series.to[i]! > tolerance_us ? Number.NaN : series.value[i]!;
};
