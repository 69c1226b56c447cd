import type { RequestView } from "../../schemas/requests.js";
import type { SourceSpec } from "../../schemas/samples.js";
import type { Sink } from "../../schemas/sink.js";
import { boundedRequest } from "./bounded-request.js";
import { RequestDays } from "./request-days.js";

export interface ImportStats {
  requests: number;
  /** Those of `requests` that the store had already. */
  known_requests: number;
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
  /** What is odd about all the requests together, for the user; null when nothing is. */
  oddity(): string | null;
}

/**
 * A sink that passes on and counts, and drops values of requests that cannot be. Refused rows are summed up and handed on by `end`, so that a file tells each reason once.
 *
 * @param origin names the file.
 */
export function createImportSink(sink: Sink, origin: string): ImportSink {
  sink.origin?.(origin);
  const stats: ImportStats = {
    requests: 0,
    known_requests: 0,
    samples: 0,
    series: 0,
    marks: 0,
    rejected: {},
    start_us: Infinity,
    end_us: -Infinity,
  };
  const knownBefore = sink.repeated?.() ?? 0;
  const days = new RequestDays();
  const refused = new Map<string, { source: SourceSpec; reason: string; count: number }>();
  const cover = (from: number, to: number): void => {
    if (from < stats.start_us) stats.start_us = from;
    if (to > stats.end_us) stats.end_us = to;
  };
  const refuse = (source: SourceSpec, reason: string, count: number): void => {
    stats.rejected[reason] = (stats.rejected[reason] ?? 0) + count;
    const key = JSON.stringify([source.name, source.node, reason]);
    const seen = refused.get(key);
    if (seen) seen.count += count;
    else refused.set(key, { source, reason, count });
  };
  return {
    stats,
    oddity: () => days.apart(),
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
        const rows: RequestView[] = [];
        for (const given of batch) {
          const row = boundedRequest(given, (fault) => refuse(source, fault, 1));
          if (row === null) {
            refuse(source, "timestamp", 1);
            continue;
          }
          rows.push(row);
          cover(row.start_us, endOf(row));
          days.add(row.start_us);
        }
        stats.requests += rows.length;
        if (rows.length > 0) sink.requests(source, rows);
      },
      rejected: refuse,
    },
    end() {
      for (const { source, reason, count } of refused.values()) sink.rejected(source, reason, count);
      refused.clear();
      sink.flush();
      stats.known_requests = (sink.repeated?.() ?? 0) - knownBefore;
    },
  };
}

function endOf(row: RequestView): number {
  return row.end_us ?? row.first_token_us ?? row.start_us;
}
