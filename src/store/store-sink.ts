import type Database from "better-sqlite3";
import { AppError } from "../../schemas/error-codes.js";
import type { RequestView } from "../../schemas/requests.js";
import type { Sample, SeriesSample, SourceSpec } from "../../schemas/samples.js";
import type { Mark } from "../../schemas/telemetry.js";
import { BatchCommit } from "./batch-commit.js";
import { type Chunk, PendingChunks, type RejectedEntry } from "./pending-chunks.js";
import { describeError, isPassing, storeError } from "./store-error.js";
import type { JudgedEpisode, SinkHealth, StoreSink } from "./store-types.js";

/** After a failure, rows alone do not start another attempt sooner than this: each may wait for a lock. */
const RETRY_MS = 1000;
/** A batch that is refused for its content, not by the disk, loses one chunk an attempt; more attempts than this wait for the next flush. */
const MAX_BLAMED = 100;

export interface SinkOptions {
  readonly file: string;
  /** A daemon's sink commits by itself and never throws because of the disk. */
  readonly flushIntervalMs: number | null;
  readonly flushRows: number;
  readonly maxBufferedRows: number;
  readonly wallUs: () => number;
  readonly keepRanges: boolean;
}

export class BufferedSink implements StoreSink {
  private readonly commit: BatchCommit;
  private readonly pending: PendingChunks;
  private rejectedRows: RejectedEntry[] = [];
  private facts = new Map<string, Readonly<Record<string, string>>>();
  private readonly timer: NodeJS.Timeout | null;
  private currentOrigin = "";
  private flushes = 0;
  private lastError: string | null = null;
  private lastDurationMs: number | null = null;
  private retryAt = 0;
  private reportedDrops = 0;

  constructor(
    db: Database.Database,
    private readonly options: SinkOptions,
  ) {
    this.commit = new BatchCommit(db, options.wallUs, options.keepRanges);
    this.pending = new PendingChunks(options.maxBufferedRows, options.flushRows);
    this.timer = options.flushIntervalMs === null ? null : setInterval(() => void this.tryCommit(), options.flushIntervalMs);
    this.timer?.unref();
  }

  samples(source: SourceSpec, batch: readonly Sample[]): void {
    this.take({ type: "samples", source, origin: this.originOf(source), rows: batch });
  }

  series(source: SourceSpec, batch: readonly SeriesSample[]): void {
    this.take({ type: "series", source, origin: this.originOf(source), rows: batch });
  }

  requests(source: SourceSpec, batch: readonly RequestView[]): void {
    this.take({ type: "requests", source, origin: this.originOf(source), rows: batch });
  }

  marks(batch: readonly Mark[], run: string | null = null): void {
    this.take({ type: "marks", run, rows: batch });
  }

  verdicts(batch: readonly JudgedEpisode[], run: string | null = null): void {
    this.take({ type: "verdicts", run, rows: batch });
  }

  origin(name: string): void {
    this.currentOrigin = name;
    this.rejectedRows = this.rejectedRows.filter((e) => e.source.run === null || e.origin !== name);
    this.commit.forgetOrigin(name);
  }

  rejected(source: SourceSpec, reason: string, count: number): void {
    if (!(count > 0)) return;
    const origin = this.originOf(source);
    const same = (e: RejectedEntry): boolean =>
      e.reason === reason &&
      e.origin === origin &&
      e.source.name === source.name &&
      e.source.node === source.node &&
      e.source.run === source.run;
    const known = this.rejectedRows.find(same);
    if (known) known.count += Math.round(count);
    else this.rejectedRows.push({ source, origin, reason, count: Math.round(count) });
  }

  manifest(run: string | null, facts: Readonly<Record<string, string>>): void {
    this.facts.set(run ?? "", { ...this.facts.get(run ?? ""), ...facts });
  }

  flush(): void {
    const error = this.tryCommit();
    if (this.options.flushIntervalMs !== null) return;
    if (error) throw storeError(error, this.options.file, "write");
    const lost = this.pending.dropped - this.reportedDrops;
    if (lost > 0) {
      this.reportedDrops = this.pending.dropped;
      throw new AppError("DB_WRITE", `${lost} rows could not be written to ${this.options.file}`, {
        mend: "free some space and do it again",
      });
    }
  }

  repeated(): number {
    return this.commit.repeated;
  }

  health(): SinkHealth {
    return {
      bufferedRows: this.pending.rows,
      droppedRows: this.pending.dropped,
      flushes: this.flushes,
      lastError: this.lastError,
      lastFlushDurationMs: this.lastDurationMs,
    };
  }

  private originOf(source: SourceSpec): string {
    return source.run === null ? "" : this.currentOrigin;
  }

  /** Ends the timer; the caller flushes and closes the database. */
  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  private take(chunk: Chunk): void {
    if (chunk.rows.length === 0) return;
    this.pending.push(chunk);
    if (this.pending.rows >= this.options.flushRows && performance.now() >= this.retryAt) this.tryCommit();
    this.pending.trim();
  }

  /** One attempt. Null when nothing waits any more; else what SQLite said. */
  private tryCommit(): unknown {
    for (let blamed = 0; ; blamed++) {
      if (this.pending.rows === 0 && this.rejectedRows.length === 0 && this.facts.size === 0) return null;
      const begin = performance.now();
      try {
        const held = this.commit.commit({ chunks: this.pending.chunks, rejected: this.rejectedRows, manifest: this.facts });
        this.pending.clear();
        this.rejectedRows = [...held.rejected];
        this.facts = new Map(held.manifest);
        this.flushes++;
        this.lastError = null;
        this.lastDurationMs = performance.now() - begin;
        this.retryAt = 0;
        return null;
      } catch (error) {
        this.lastError = describeError(error);
        this.retryAt = performance.now() + RETRY_MS;
        if (isPassing(error) || blamed >= MAX_BLAMED || this.commit.at >= this.pending.chunks.length) return error;
        this.pending.drop(this.commit.at);
      }
    }
  }
}
