import type { RequestView } from "../../schemas/requests.js";
import type { SourceSpec } from "../../schemas/samples.js";
import type { Sink } from "../../schemas/sink.js";

export interface ImportStats {
  requests: number;
  samples: number;
  series: number;
  marks: number;
  /** Refused rows by reason. */
  rejected: Record<string, number>;
  /** Extent of the accepted rows, µs; infinite while there are none. */
  start_us: number;
  end_us: number;
}

export interface ImportSink {
  readonly sink: Sink;
  readonly stats: ImportStats;
  /** Hands on the refused rows and commits. */
  end(): void;
}

/**
 * A sink that passes on and counts. Refused rows are summed up and handed on by `end`, so that a file tells each reason once.
 *
 * @param origin names the file.
 */
export function createImportSink(sink: Sink, origin: string): ImportSink {
  sink.origin?.(origin);
  const stats: ImportStats = { requests: 0, samples: 0, series: 0, marks: 0, rejected: {}, start_us: Infinity, end_us: -Infinity };
  const refused = new Map<string, { source: SourceSpec; reason: string; count: number }>();
  const cover = (from: number, to: number): void => {
    if (from < stats.start_us) stats.start_us = from;
    if (to > stats.end_us) stats.end_us = to;
  };
  return {
    stats,
    sink: {
      marks(batch, run) {
        for (const mark of batch) cover(mark.ts_us, mark.ts_us);
        stats.marks += batch.length;
        sink.marks(batch, run);
      },
      manifest: (run, facts) => sink.manifest(run, facts),
      flush: () => sink.flush(),
      samples(source, batch) {
        for (const row of batch) cover(row.ts_us, row.ts_us);
        stats.samples += batch.length;
        sink.samples(source, batch);
      },
      series(source, batch) {
        for (const row of batch) cover(row.ts_us, row.ts_us);
        stats.series += batch.length;
        sink.series(source, batch);
      },
      requests(source, batch) {
        for (const row of batch) cover(row.start_us, endOf(row));
        stats.requests += batch.length;
        sink.requests(source, batch);
      },
      rejected(source, reason, count) {
        stats.rejected[reason] = (stats.rejected[reason] ?? 0) + count;
        const key = JSON.stringify([source.name, source.node, reason]);
        const seen = refused.get(key);
        if (seen) seen.count += count;
        else refused.set(key, { source, reason, count });
      },
    },
    end() {
      for (const { source, reason, count } of refused.values()) sink.rejected(source, reason, count);
      refused.clear();
      sink.flush();
    },
  };
}

function endOf(row: RequestView): number {
  return row.end_us ?? row.first_token_us ?? row.start_us;
}
