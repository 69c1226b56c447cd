import type Database from "better-sqlite3";
import type { Chunk, RejectedEntry } from "./pending-chunks.js";

interface Extent {
  from_us: number;
  to_us: number;
}

/** What is said of runs while their rows are written: how far the rows reach, and what has to wait for the first of them. */
export class RunExtents {
  private readonly sql;

  constructor(db: Database.Database) {
    this.sql = {
      has: db.prepare("SELECT 1 FROM run WHERE id = ?"),
      extend: db.prepare(
        "UPDATE run SET start_us = min(coalesce(start_us, @from), @from), end_us = max(coalesce(end_us, @to), @to) WHERE id = @id",
      ),
    };
  }

  has(run: string): boolean {
    return this.sql.has.get(run) !== undefined;
  }

  /** Widens every run to hold its imported rows, in the transaction that writes them: whoever sees rows sees the run's range. */
  cover(chunks: readonly Chunk[]): void {
    const extents = new Map<string, Extent>();
    for (const chunk of chunks) if ("source" in chunk && chunk.source.run !== null) widen(extentOf(extents, chunk.source.run), chunk);
    for (const [id, { from_us, to_us }] of extents) if (from_us <= to_us) this.sql.extend.run({ id, from: from_us, to: to_us });
  }

  /** Of a run without rows nothing is kept: an import that fails must leave no run behind. */
  split(entries: readonly RejectedEntry[]): { readonly now: RejectedEntry[]; readonly later: RejectedEntry[] } {
    const now: RejectedEntry[] = [];
    const later: RejectedEntry[] = [];
    for (const entry of entries) (entry.source.run === null || this.has(entry.source.run) ? now : later).push(entry);
    return { now, later };
  }
}

function extentOf(extents: Map<string, Extent>, run: string): Extent {
  const known = extents.get(run);
  if (known) return known;
  const fresh = { from_us: Infinity, to_us: -Infinity };
  extents.set(run, fresh);
  return fresh;
}

function widen(extent: Extent, chunk: Extract<Chunk, { source: unknown }>): void {
  const put = (us: number | null): void => {
    if (us === null || !Number.isSafeInteger(Math.round(us))) return;
    if (us < extent.from_us) extent.from_us = Math.round(us);
    if (us > extent.to_us) extent.to_us = Math.round(us);
  };
  if (chunk.type === "requests") {
    for (const row of chunk.rows) {
      put(row.start_us);
      put(row.end_us ?? row.first_token_us);
    }
  } else for (const row of chunk.rows) put(row.ts_us);
}
