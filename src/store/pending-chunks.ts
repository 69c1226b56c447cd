import type { RequestView } from "../../schemas/requests.js";
import type { Sample, SeriesSample, SourceSpec } from "../../schemas/samples.js";
import type { Mark } from "../../schemas/telemetry.js";
import type { JudgedEpisode } from "./store-types.js";

/** What waits for its transaction, in the order of arrival. */
export type Chunk =
  | { readonly type: "samples"; readonly source: SourceSpec; readonly origin: string; readonly rows: readonly Sample[] }
  | { readonly type: "series"; readonly source: SourceSpec; readonly origin: string; readonly rows: readonly SeriesSample[] }
  | { readonly type: "requests"; readonly source: SourceSpec; readonly origin: string; readonly rows: readonly RequestView[] }
  | { readonly type: "marks"; readonly run: string | null; readonly rows: readonly Mark[] }
  | { readonly type: "verdicts"; readonly run: string | null; readonly rows: readonly JudgedEpisode[] };

export interface RejectedEntry {
  readonly source: SourceSpec;
  /** The file it came from; empty when it was not named. */
  readonly origin: string;
  readonly reason: string;
  count: number;
}

/** A bounded queue of rows: when the disk refuses for too long, the oldest are lost and counted. */
export class PendingChunks {
  private list: Chunk[] = [];
  rows = 0;
  dropped = 0;

  constructor(
    private readonly maxRows: number,
    private readonly sliceRows: number,
  ) {}

  get chunks(): readonly Chunk[] {
    return this.list;
  }

  push(chunk: Chunk): void {
    const total = chunk.rows.length;
    for (let at = 0; at < total; at += this.sliceRows) {
      const rows = chunk.rows.slice(at, at + this.sliceRows);
      this.list.push({ ...chunk, rows } as Chunk);
      this.rows += rows.length;
    }
  }

  /** Brings the queue under its limit. */
  trim(): void {
    while (this.rows > this.maxRows) this.drop(0);
  }

  drop(index: number): void {
    const [gone] = this.list.splice(index, 1);
    if (!gone) return;
    this.rows -= gone.rows.length;
    this.dropped += gone.rows.length;
  }

  clear(): void {
    this.list = [];
    this.rows = 0;
  }
}
