import type { EntityRef } from "./samples.js";

/** One source as the correlator sees it: measured, not only declared. */
export interface TelemetrySource {
  readonly name: string;
  readonly node: string;
  readonly imported: boolean;
  readonly interval_ms: number | null;
  readonly window_ms: number | null;
  readonly lag_ms: number | null;
  /** Readings that were refused when they came in, by reason. */
  readonly rejected: Readonly<Record<string, number>>;
}

/** The readings of one entity by one source. `ts_us` ascends strictly; a column has the length of `ts_us`; NaN = missing. */
export interface Track {
  readonly source: TelemetrySource;
  readonly entity: EntityRef;
  readonly ts_us: Float64Array;
  readonly epoch: Int32Array;
  /** Only columns with at least one reading are there. */
  readonly columns: Readonly<Record<string, Float64Array>>;
}

/** A histogram of a server as cumulative bucket counts: what answers when there are no request records. */
export interface HistogramTrack {
  readonly source: TelemetrySource;
  readonly entity: EntityRef;
  readonly metric: string;
  /** Upper bounds, ascending, the last is Infinity. */
  readonly bounds: Float64Array;
  readonly ts_us: Float64Array;
  /** Row-major: counts[i * bounds.length + j]. */
  readonly counts: Float64Array;
}

export interface Mark {
  readonly ts_us: number;
  readonly node: string;
  /** `user`, or what wrote it by itself: `clock_step`, `restart`, `xid`, `oom_kill`, … */
  readonly kind: string;
  readonly text: string;
}

/** All telemetry of a range, sorted by (kind, node, key, source). */
export interface Telemetry {
  readonly tracks: readonly Track[];
  readonly histograms: readonly HistogramTrack[];
  readonly marks: readonly Mark[];
}
