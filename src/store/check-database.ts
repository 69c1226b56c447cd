import fs from "node:fs";
import type Database from "better-sqlite3";
import { ENTITY_KINDS } from "../../schemas/columns/index.js";
import { closeReader, connectReader } from "./connection.js";
import { schemaVersion } from "./migrate.js";
import { storeError } from "./store-error.js";

export interface TableSize {
  readonly name: string;
  readonly rows: number;
  /** With its indexes. */
  readonly bytes: number;
}

export interface DatabaseCheck {
  readonly file: string;
  readonly version: number;
  /** What is wrong; empty when all is well. */
  readonly problems: readonly string[];
  readonly file_bytes: number;
  readonly wal_bytes: number;
  readonly tables: readonly TableSize[];
  /** Extent of all telemetry and requests, µs; null when there are none. */
  readonly first_us: number | null;
  readonly last_us: number | null;
}

const WAIT_MS = 5000;
const MAX_PROBLEMS = 100;

/** Reads the whole file and says whether it is sound. Throws DB_OPEN, DB_VERSION, or DB_CORRUPT when it cannot even be opened. */
export function checkDatabase(file: string): DatabaseCheck {
  const db = connectReader(file, WAIT_MS);
  try {
    const problems = integrityProblems(db);
    const bytes = (path: string): number => fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const extent = attempt(problems, () =>
      db
        .prepare<[], { first_us: number | null; last_us: number | null }>(
          "SELECT min(first_us) AS first_us, max(last_us) AS last_us FROM source",
        )
        .get(),
    );
    return {
      file,
      version: schemaVersion(db),
      file_bytes: bytes(file),
      wal_bytes: bytes(`${file}-wal`),
      tables: attempt(problems, () => tableSizes(db)) ?? [],
      first_us: extent?.first_us ?? null,
      last_us: extent?.last_us ?? null,
      problems: [...problems, ...(problems.length === 0 ? danglingRows(db) : [])],
    };
  } catch (error) {
    throw storeError(error, file, "open");
  } finally {
    closeReader(db);
  }
}

/** SQLite's own findings. */
export function integrityProblems(db: Database.Database): string[] {
  try {
    const found = db.prepare<[], string>(`PRAGMA integrity_check(${MAX_PROBLEMS})`).pluck().all();
    return found.filter((line) => line !== "ok");
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function attempt<T>(problems: string[], read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
    return null;
  }
}

function tableSizes(db: Database.Database): TableSize[] {
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .pluck()
    .all();
  const size = db.prepare<[string], number>(
    "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = TRUE AND name IN (SELECT name FROM sqlite_master WHERE tbl_name = ?)",
  );
  return names.map((name) => ({
    name,
    rows: db.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get()!,
    bytes: size.pluck().get(name)!,
  }));
}

/** Rows whose dictionary entry is gone: they can be read, but nobody knows whose they are. */
function danglingRows(db: Database.Database): string[] {
  const references = [
    ...ENTITY_KINDS.flatMap((kind) => [
      [`${kind}_sample`, "entity", "entity"],
      [`${kind}_sample`, "source", "source"],
    ]),
    ["series_sample", "series", "series"],
    ["request", "source", "source"],
    ["request", "server", "label_set"],
  ] as [string, string, string][];
  return references.flatMap(([table, column, dictionary]) => {
    const n = db.prepare<[], number>(`SELECT count(*) FROM ${table} WHERE ${column} NOT IN (SELECT id FROM ${dictionary})`).pluck().get()!;
    return n === 0 ? [] : [`${n} rows of ${table} name a ${dictionary} that is not there`];
  });
}
