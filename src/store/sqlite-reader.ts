import type Database from "better-sqlite3";
import type { RequestView } from "../../schemas/requests.js";
import type { Run } from "../../schemas/runs.js";
import type { Telemetry } from "../../schemas/telemetry.js";
import { idList } from "./read-entities.js";
import { rejectedCounts, resolveScope, type Scope } from "./read-scope.js";
import { readTelemetry } from "./read-telemetry.js";
import { REQUEST_COLUMNS, requestView } from "./request-row.js";
import { storeError } from "./store-error.js";
import type { RejectedCount, Selection, StoreReader } from "./store-types.js";

const REQUEST_SQL = `SELECT ${REQUEST_COLUMNS.map((c) => (c === "server" ? "coalesce(ls.labels, '{}') AS server" : `r.${c}`)).join(", ")}
  FROM request r LEFT JOIN label_set ls ON ls.id = r.server`;

export class SqliteReader implements StoreReader {
  constructor(
    private readonly db: Database.Database,
    private readonly file: string,
    private readonly requireRun: (id: string) => Run,
    private readonly wallUs: () => number,
  ) {}

  requestViews(selection: Selection): RequestView[] {
    return this.within(selection, (scope) => {
      const rows = [...this.importedRequests(scope), ...this.liveRequests(scope)].map(requestView);
      return rows.sort((a, b) => a.start_us - b.start_us || (a.request_id < b.request_id ? -1 : a.request_id > b.request_id ? 1 : 0));
    });
  }

  telemetry(selection: Selection): Telemetry {
    return this.within(selection, (scope) => readTelemetry(this.db, scope));
  }

  range(selection: Selection): { start_us: number; end_us: number } | null {
    return this.within(selection, (scope) => scope.range && { ...scope.range });
  }

  rejected(selection: Selection): RejectedCount[] {
    return this.within(selection, (scope) => rejectedCounts(this.db, scope).map(({ source_id: _, ...row }) => row));
  }

  boundedFrom(from_us: number, to_us: number, most: number): number {
    try {
      const beyond = this.db
        .prepare<[number, number, number], number>(
          "SELECT start_us FROM request WHERE start_us BETWEEN ? AND ? ORDER BY start_us DESC LIMIT 1 OFFSET ?",
        )
        .pluck()
        .get(from_us, to_us, most);
      return beyond === undefined ? from_us : beyond + 1;
    } catch (error) {
      throw storeError(error, this.file, "open");
    }
  }

  private importedRequests(scope: Scope): Record<string, unknown>[] {
    const part = scope.imports;
    if (!part) return [];
    return this.db
      .prepare<[number, number], Record<string, unknown>>(
        `${REQUEST_SQL} WHERE r.start_us BETWEEN ? AND ? AND r.source IN (${idList(part.sources)})`,
      )
      .all(part.from_us, part.to_us);
  }

  /** Those that ended inside the range, found by the longest request of the source; and those that began in it and are open. */
  private liveRequests(scope: Scope): Record<string, unknown>[] {
    const { range, live } = scope;
    if (!range || !live || live.sources.length === 0) return [];
    const longest = Math.max(...live.sources.map((s) => s.longest_us));
    return this.db
      .prepare<Record<string, number>, Record<string, unknown>>(
        `${REQUEST_SQL} WHERE r.start_us BETWEEN @earliest AND @end AND r.source IN (${idList(live.sources)})
         AND (r.end_us BETWEEN @start AND @end OR (r.end_us IS NULL AND r.start_us >= @start))`,
      )
      .all({ earliest: range.start_us - longest, start: range.start_us, end: range.end_us });
  }

  /** Resolves and reads in one snapshot, whatever a writer does meanwhile. */
  private within<T>(selection: Selection, read: (scope: Scope) => T): T {
    try {
      return this.db.transaction(() => read(resolveScope(this.db, selection, this.requireRun, this.wallUs())))();
    } catch (error) {
      throw storeError(error, this.file, "open");
    }
  }
}
