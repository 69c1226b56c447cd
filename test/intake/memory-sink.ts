import type { RequestView } from "../../schemas/requests.js";
import type { Sample, SeriesSample, SourceSpec } from "../../schemas/samples.js";
import type { Sink } from "../../schemas/sink.js";
import type { Mark } from "../../schemas/telemetry.js";

/** A sink that keeps everything, for tests. */
export class MemorySink implements Sink {
  readonly requestRows: { source: SourceSpec; row: RequestView }[] = [];
  readonly sampleRows: { source: SourceSpec; row: Sample }[] = [];
  readonly seriesRows: { source: SourceSpec; row: SeriesSample }[] = [];
  readonly markRows: Mark[] = [];
  readonly refused: Record<string, number> = {};
  readonly facts: Record<string, string> = {};
  flushes = 0;

  samples(source: SourceSpec, batch: readonly Sample[]): void {
    for (const row of batch) this.sampleRows.push({ source, row });
  }
  series(source: SourceSpec, batch: readonly SeriesSample[]): void {
    for (const row of batch) this.seriesRows.push({ source, row });
  }
  requests(source: SourceSpec, batch: readonly RequestView[]): void {
    for (const row of batch) this.requestRows.push({ source, row });
  }
  marks(batch: readonly Mark[]): void {
    this.markRows.push(...batch);
  }
  rejected(_source: SourceSpec, reason: string, count: number): void {
    this.refused[reason] = (this.refused[reason] ?? 0) + count;
  }
  manifest(_run: string | null, facts: Readonly<Record<string, string>>): void {
    Object.assign(this.facts, facts);
  }
  flush(): void {
    this.flushes++;
  }
  get views(): RequestView[] {
    return this.requestRows.map(({ row }) => row);
  }
}
