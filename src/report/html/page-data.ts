import type { Episode, Spike } from "../../../schemas/report.js";

/** What the page's script reads. A number called `…_column` names a column of the blob (payload-codec). Times are ticks from `t0_us`. */
export interface PageData {
  readonly t0_us: number;
  /** Length of a tick, µs. */
  readonly tick_us: number;
  /** Length of the time axis, ticks. */
  readonly span: number;
  readonly dots: DotData;
  readonly lanes: readonly LaneData[];
  readonly episodes: readonly EpisodeSpan[];
  /** Episodes that have no article of their own in the page: their articles are made when they are asked for. */
  readonly further: readonly { readonly number: number; readonly episode: Episode }[];
  readonly marks: readonly MarkData[];
  readonly table: TableData;
}

/** The requests as dots, by arrival. */
export interface DotData {
  readonly n: number;
  readonly time_column: number;
  readonly class_column: number;
  /** At most two: what is drawn of a request. */
  readonly lanes: readonly { readonly id: string; readonly title: string; readonly value_column: number; readonly max: number }[];
}

export type LaneUnit = "ratio" | "count" | "w" | "mhz" | "bytes_per_s" | "cores" | "per_s";

export interface LaneData {
  readonly id: string;
  readonly title: string;
  readonly unit: LaneUnit;
  readonly note: string;
  readonly series: readonly SeriesData[];
}

export interface SeriesData {
  readonly name: string;
  readonly source: string;
  /** Extremes of the whole series: level 0 and level LEVELS. */
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly time_column: number;
  readonly high_column: number;
  /** Null when every point is one reading. */
  readonly low_column: number | null;
}

/** Episode `number` (from 1) as a span of the time axis. */
export interface EpisodeSpan {
  readonly number: number;
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly class: Episode["class"];
  readonly label: string;
  readonly excess_ms: number;
}

export interface MarkData {
  readonly at: number;
  readonly kind: string;
  readonly text: string;
  readonly node: string;
}

/** Slow requests: `requests` once each, `rows` name them by index. A row is a spike, or a request that is slow without one. */
export interface TableData {
  readonly requests: readonly TableRequest[];
  readonly rows: readonly TableRow[];
  readonly spikes_total: number;
  readonly spikes_shown: number;
  readonly slowest: number;
}

/** id, arrival (ticks), TTFT, worst gap, E2E, queue (ms), tokens in, tokens out, index of the dot (-1 = none). */
export type TableRequest = readonly [
  id: string,
  at: number,
  ttft: number | null,
  gap: number | null,
  e2e: number | null,
  queue: number | null,
  input: number | null,
  output: number | null,
  dot: number,
];

export type TableRow = readonly [request: number, spike: TableSpike | null];

/** The spike of a row, as the report has it; `episode` is its number, 0 = none. */
export interface TableSpike extends Pick<Spike, "metric" | "observed_ms" | "expected_ms" | "excess_ms" | "class" | "cause" | "confidence"> {
  readonly episode: number;
  readonly censored: boolean;
}
