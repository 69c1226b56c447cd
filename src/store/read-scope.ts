import type Database from "better-sqlite3";
import type { Run } from "../../schemas/runs.js";
import type { RejectedCount, Selection } from "./store-types.js";

/** Live telemetry around a run is read this much longer at both ends: lag, baselines and effects reach over its bounds. */
export const MARGIN_US = 60_000_000;

export interface SourceRow {
  readonly id: number;
  readonly name: string;
  readonly node: string;
  readonly run: string | null;
  readonly interval_ms: number | null;
  readonly window_ms: number | null;
  readonly lag_ms: number | null;
  readonly first_us: number | null;
  readonly last_us: number | null;
  readonly longest_us: number;
}

/** Sources that are read over one closed interval. */
export interface ScopePart {
  readonly sources: readonly SourceRow[];
  readonly from_us: number;
  readonly to_us: number;
}

export interface Range {
  readonly start_us: number;
  readonly end_us: number;
}

/** The rows that a selection may see: a run's imports whole, live sources by time. */
export interface Scope {
  readonly run: string | null;
  readonly range: Range | null;
  readonly imports: ScopePart | null;
  readonly live: ScopePart | null;
}

const SOURCES = "SELECT id, name, node, run, interval_ms, window_ms, lag_ms, first_us, last_us, longest_us FROM source";

export function resolveScope(db: Database.Database, selection: Selection, requireRun: (id: string) => Run, nowUs: number): Scope {
  const live = db.prepare<[], SourceRow>(`${SOURCES} WHERE run IS NULL ORDER BY id`).all();
  if (!("run" in selection)) {
    const range = { start_us: selection.from_us, end_us: selection.to_us };
    return { run: null, range, imports: null, live: { sources: live, from_us: range.start_us, to_us: range.end_us } };
  }
  const run = requireRun(selection.run);
  const own = db.prepare<[string], SourceRow>(`${SOURCES} WHERE run = ? ORDER BY id`).all(run.id);
  const imports = wholeExtent(own);
  const range = runRange(run, imports, nowUs);
  const nodes = importedNodes(db, run.id);
  const sources = nodes.size === 0 ? live : live.filter((s) => nodes.has(s.node));
  return {
    run: run.id,
    range,
    imports,
    live: range && { sources, from_us: range.start_us - MARGIN_US, to_us: range.end_us + MARGIN_US },
  };
}

function wholeExtent(sources: readonly SourceRow[]): ScopePart | null {
  const filled = sources.filter((s) => s.first_us !== null && s.last_us !== null);
  if (filled.length === 0) return null;
  return { sources: filled, from_us: Math.min(...filled.map((s) => s.first_us!)), to_us: Math.max(...filled.map((s) => s.last_us!)) };
}

function runRange(run: Run, imports: ScopePart | null, nowUs: number): Range | null {
  if (run.start_us !== null) return { start_us: run.start_us, end_us: run.end_us ?? Math.max(nowUs, run.start_us) };
  return imports && { start_us: imports.from_us, end_us: imports.to_us };
}

function importedNodes(db: Database.Database, run: string): ReadonlySet<string> {
  const rows = db
    .prepare<[string, string], string>(
      `SELECT node FROM source WHERE run = ? UNION
       SELECT e.node FROM source s JOIN entity_label el ON el.source = s.id JOIN entity e ON e.id = el.entity WHERE s.run = ?`,
    )
    .pluck()
    .all(run, run);
  return new Set(rows.filter((node) => node !== ""));
}

/** Refused rows of the sources in the scope, by source name, node and reason. */
export function rejectedCounts(db: Database.Database, scope: Scope): (RejectedCount & { readonly source_id: number })[] {
  const where = scope.run === null ? "s.run IS NULL" : "(s.run = @run OR s.run IS NULL)";
  const live = new Set(scope.live?.sources.map((s) => s.id));
  return db
    .prepare<{ run: string | null }, RejectedCount & { source_id: number; run: string | null }>(
      `SELECT s.name AS source, s.node, r.reason, sum(r.count) AS count, s.id AS source_id, s.run AS run
       FROM rejected r JOIN source s ON s.id = r.source WHERE ${where}
       GROUP BY s.id, r.reason ORDER BY s.name, s.node, s.run IS NULL, r.reason`,
    )
    .all({ run: scope.run })
    .filter((row) => row.run !== null || live.has(row.source_id))
    .map(({ source, node, reason, count, source_id }) => ({ source, node, reason, count, source_id }));
}
