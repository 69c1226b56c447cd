import type { RequestView } from "./requests.js";
import type { Sample, SeriesSample, SourceSpec } from "./samples.js";
import type { Mark } from "./telemetry.js";

/**
 * Where collectors' and importers' data goes: the store's writer, or memory in tests. Calls never block on the disk;
 * `flush` does. Batches may be large (some 10,000 rows).
 */
export interface Sink {
  samples(source: SourceSpec, batch: readonly Sample[]): void;
  series(source: SourceSpec, batch: readonly SeriesSample[]): void;
  requests(source: SourceSpec, batch: readonly RequestView[]): void;
  marks(batch: readonly Mark[], run?: string | null): void;
  /** Counts refused rows; `reason` is a short fixed word such as `sentinel`, `syntax`, `range`, `truncated`. */
  rejected(source: SourceSpec, reason: string, count: number): void;
  /** What was learnt about the test object; keys as in the manifest, later values win. */
  manifest(run: string | null, facts: Readonly<Record<string, string>>): void;
  /**
   * Names what the rows that follow come from, such as an imported file: what an earlier import of the same origin said about its
   * refused rows is replaced, so that importing twice changes nothing.
   */
  origin?(name: string): void;
  /** Requests committed so far that were there already, since the sink was made. */
  repeated?(): number;
  flush(): void;
}
