import type { Episode, Spike } from "../../schemas/report.js";
import type { RequestView } from "../../schemas/requests.js";
import type { Run } from "../../schemas/runs.js";
import type { Sink } from "../../schemas/sink.js";
import type { Telemetry } from "../../schemas/telemetry.js";

/** What to read: one run, or a closed interval of time of the live agent, integer µs since the epoch. */
export type Selection = { readonly run: string } | { readonly from_us: number; readonly to_us: number };

export interface SinkHealth {
  /** Rows accepted and not yet committed. */
  readonly bufferedRows: number;
  /** Rows lost because the disk refused them for too long. */
  readonly droppedRows: number;
  /** Transactions committed. */
  readonly flushes: number;
  /** Why the last attempt failed; null after a success. */
  readonly lastError: string | null;
  /** Milliseconds of the last committed transaction; null before the first. */
  readonly lastFlushDurationMs: number | null;
}

/**
 * Takes rows into memory and commits them in batches. Its taking methods never throw because of the disk. With a flush interval
 * (a daemon) `flush` does not either: `health` tells. Without one (a command) `flush` throws DB_WRITE when rows could not be kept.
 */
export interface StoreSink extends Sink {
  health(): SinkHealth;
  origin(name: string): void;
  /** Keeps what was found, under the report's run id; null: found live. What is there already (same id, same spike) stays as it is. */
  verdicts(batch: readonly JudgedEpisode[], run?: string | null): void;
}

/** An episode with the spikes that it holds. */
export interface JudgedEpisode {
  readonly episode: Episode;
  readonly spikes: readonly Spike[];
}

/** How many spikes, and how much lost time, there are of one kind. */
export interface SpikeTotal {
  readonly class: string;
  readonly cause: string | null;
  readonly metric: string;
  readonly server: string | null;
  readonly spikes: number;
  readonly excess_ms: number;
}

export interface EpisodeTotal extends Omit<SpikeTotal, "spikes" | "excess_ms"> {
  readonly episodes: number;
}

/** What the live agent found, as far as it is kept. Reads committed rows only. Throws DB_OPEN, DB_CORRUPT. */
export interface VerdictReader {
  /** Episodes that touch the interval, the newest `limit`, by start. */
  episodes(from_us: number, to_us: number, limit: number): Episode[];
  /** Spikes that began in the interval, the newest `limit`, by start. */
  spikes(from_us: number, to_us: number, limit: number): Spike[];
  /** Over everything that is kept. */
  totals(): { readonly spikes: SpikeTotal[]; readonly episodes: EpisodeTotal[] };
}

export interface RunStore {
  /** Makes the run if there is none of that name. Throws USAGE for a name that cannot be one. */
  create(id: string): Run;
  get(id: string): Run | null;
  /** The run; throws RUN_UNKNOWN with the nearest names. */
  require(id: string): Run;
  /** All runs by start, those without one last. */
  list(): Run[];
  /** Marks the start; makes the run if needed. Throws USAGE when it has a start already. */
  start(id: string, tsUs: number): Run;
  /** Marks the end and freezes what the agent knows into the manifest. Throws RUN_UNKNOWN or USAGE. */
  stop(id: string, tsUs: number): Run;
  /** Widens the run to hold the interval; makes the run if needed. */
  extend(id: string, fromUs: number, toUs: number): Run;
  /** Adds facts to the run's manifest, later values win; null: to what the live agent knows. */
  mergeManifest(id: string | null, facts: Readonly<Record<string, string>>): void;
}

export interface RejectedCount {
  readonly source: string;
  readonly node: string;
  readonly reason: string;
  readonly count: number;
}

/**
 * A run's data: its own imports whole; live telemetry of the same nodes (of all nodes when no import names one) from 60 s before its
 * start to 60 s after its end; live requests that ended inside it or are open since. An interval's data: live sources only.
 * Each method throws RUN_UNKNOWN for a run that is not there.
 */
export interface StoreReader {
  /** By start, then request id. */
  requestViews(selection: Selection): RequestView[];
  telemetry(selection: Selection): Telemetry;
  /** The run's bounds, the extent of its imports where it has none; an open run ends now. Null when nothing is known. */
  range(selection: Selection): { start_us: number; end_us: number } | null;
  rejected(selection: Selection): RejectedCount[];
  /** The earliest time of the interval from which on no more than about `most` requests begin, µs. Cheap. */
  boundedFrom(from_us: number, to_us: number, most: number): number;
}

export interface Store {
  /** Absolute path of the database. */
  readonly file: string;
  readonly sink: StoreSink;
  readonly runs: RunStore;
  readonly read: StoreReader;
  readonly verdicts: VerdictReader;
  /** Commits what is buffered and closes. Throws DB_WRITE like `flush`. Safe to call twice. */
  close(): void;
}

export interface OpenOptions {
  readonly mode: "read" | "write";
  /** Write mode: whether a missing file is made; default true. */
  readonly create?: boolean;
  /** Commits by itself this often: for a daemon. */
  readonly flushIntervalMs?: number;
  /** Commits when this many rows are buffered; default 20,000. */
  readonly flushRows?: number;
  /** Rows kept at most while the disk refuses; the oldest go first. Default ten times `flushRows`. */
  readonly maxBufferedRows?: number;
  /** How long a locked database is waited for, ms; default 1000 for a daemon, 5000 for reading, 60,000 for another writer. */
  readonly busyTimeoutMs?: number;
  /** Imported rows do not widen the run that they come to: for one whose start and end are marked. */
  readonly keepRanges?: boolean;
  /** Wall clock, integer µs. */
  readonly wallUs?: () => number;
}
