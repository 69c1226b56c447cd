import type Database from "better-sqlite3";
import type { Episode, Spike } from "../../schemas/report.js";
import { formatIso } from "../time/iso-time.js";
import { storeError } from "./store-error.js";
import type { EpisodeTotal, SpikeTotal, VerdictReader } from "./store-types.js";

/** What was found live belongs to no run. */
const LIVE = "''";

type SpikeRow = Omit<Spike, "start" | "end" | "censored"> & { start_us: number; end_us: number; censored: number };

export class SqliteVerdicts implements VerdictReader {
  constructor(
    private readonly db: Database.Database,
    private readonly file: string,
  ) {}

  episodes(from_us: number, to_us: number, limit: number): Episode[] {
    return this.reading(() =>
      this.db
        .prepare<[number, number, number], string>(
          `SELECT body FROM episode WHERE run = ${LIVE} AND end_us >= ? AND start_us <= ? ORDER BY start_us DESC, id DESC LIMIT ?`,
        )
        .pluck()
        .all(from_us, to_us, limit)
        .reverse()
        .map((body) => JSON.parse(body) as Episode),
    );
  }

  spikes(from_us: number, to_us: number, limit: number): Spike[] {
    return this.reading(() =>
      this.db
        .prepare<[number, number, number], SpikeRow>(
          `SELECT request_id, metric, start_us, end_us, observed_ms, expected_ms, excess_ms, class, cause, confidence, episode, censored
           FROM spike WHERE run = ${LIVE} AND start_us BETWEEN ? AND ? ORDER BY start_us DESC, request_id DESC, metric DESC LIMIT ?`,
        )
        .all(from_us, to_us, limit)
        .reverse()
        .map(({ request_id, metric, start_us, end_us, censored, ...rest }) => ({
          request_id,
          metric,
          start: formatIso(start_us),
          end: formatIso(end_us),
          ...rest,
          censored: censored === 1,
        })),
    );
  }

  totals(): { spikes: SpikeTotal[]; episodes: EpisodeTotal[] } {
    return this.reading(() => ({
      spikes: this.db
        .prepare<[], SpikeTotal>(
          `SELECT s.class, s.cause, s.metric, json_extract(e.body, '$.server') AS server, count(*) AS spikes, sum(s.excess_ms) AS excess_ms
           FROM spike s LEFT JOIN episode e ON e.run = s.run AND e.id = s.episode WHERE s.run = ${LIVE} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
        )
        .all(),
      episodes: this.db
        .prepare<[], EpisodeTotal>(
          `SELECT class, cause, metric, json_extract(body, '$.server') AS server, count(*) AS episodes
           FROM episode WHERE run = ${LIVE} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
        )
        .all(),
    }));
  }

  private reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw storeError(error, this.file, "open");
    }
  }
}
