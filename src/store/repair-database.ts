import fs from "node:fs";
import Database from "better-sqlite3";
import { AppError } from "../../schemas/error-codes.js";
import { integrityProblems } from "./check-database.js";
import { connectWriter } from "./connection.js";
import { keepNativeObjects } from "./keep-native-objects.js";
import { checkOwner, migrations, schemaVersion } from "./migrate.js";
import { storeError } from "./store-error.js";

export interface TableRescue {
  readonly name: string;
  readonly rows: number;
  /** Reading stopped at damage: what lies between the two readable ends is lost. */
  readonly cut: boolean;
}

export interface Repair {
  readonly file: string;
  /** `sound`: nothing to do; `reindexed`: mended in place; `copied`: readable rows are in `copy`, the file is as it was. */
  readonly outcome: "sound" | "reindexed" | "copied";
  readonly problems: readonly string[];
  readonly copy: string | null;
  readonly tables: readonly TableRescue[];
}

const WAIT_MS = 5000;
const BATCH_ROWS = 1000;
/** Damage that rebuilding the indexes heals: the tables themselves are whole. */
const INDEX_ONLY = /(missing from index|wrong # of entries in index|non-unique entry in index)/;

/**
 * Mends what SQLite can mend: indexes in place; else every row that can still be read is copied into a new file beside the old one.
 * Throws DB_CORRUPT when nothing can be read, DB_WRITE when the copy cannot be written or is there already.
 */
export function repairDatabase(file: string, copy = `${file}.repaired`): Repair {
  if (!fs.existsSync(file)) throw new AppError("DB_OPEN", `there is no database at ${file}`);
  try {
    const db = keepNativeObjects(new Database(file, { timeout: WAIT_MS }));
    try {
      checkOwner(db, file);
      const problems = integrityProblems(db);
      if (problems.length === 0) return { file, outcome: "sound", problems, copy: null, tables: [] };
      if (problems.every((p) => INDEX_ONLY.test(p)) && reindex(db)) return { file, outcome: "reindexed", problems, copy: null, tables: [] };
      return { file, outcome: "copied", problems, copy, tables: rescue(db, copy) };
    } finally {
      db.close();
    }
  } catch (error) {
    if ((error as { code?: string }).code !== "SQLITE_NOTADB") throw storeError(error, file, "write");
    throw new AppError("DB_CORRUPT", `nothing can be read from ${file}: it is no SQLite database, or its first page is destroyed`, {
      mend: "put a copy of the file in its place, or begin a new one with --db",
    });
  }
}

function reindex(db: Database.Database): boolean {
  try {
    db.exec("REINDEX");
    return integrityProblems(db).length === 0;
  } catch {
    return false;
  }
}

function rescue(from: Database.Database, copy: string): TableRescue[] {
  if (fs.existsSync(copy)) throw new AppError("DB_WRITE", `${copy} is there already`, { mend: "move it away first" });
  const version = schemaVersion(from);
  const to = connectWriter(
    copy,
    WAIT_MS,
    true,
    migrations().filter((m) => m.version <= version),
  );
  try {
    const names = to
      .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .pluck()
      .all();
    return names.map((name) => copyTable(from, to, name));
  } finally {
    to.close();
  }
}

/** Reads from the front until damage stops it, then from the back. */
function copyTable(from: Database.Database, to: Database.Database, name: string): TableRescue {
  const columns = to.prepare<[], { name: string; pk: number }>(`SELECT name, pk FROM pragma_table_info('${name}') ORDER BY cid`).all();
  const list = columns.map((c) => c.name).join(", ");
  const key = columns.filter((c) => c.pk > 0).sort((a, b) => a.pk - b.pk);
  const insert = to.prepare(`INSERT OR IGNORE INTO ${name} (${list}) VALUES (${columns.map(() => "?").join(", ")})`);
  const order = (way: "ASC" | "DESC"): string => `SELECT ${list} FROM ${name} ORDER BY ${key.map((c) => `${c.name} ${way}`).join(", ")}`;
  const whole = copyRows(from, to, order("ASC"), insert);
  if (!whole) copyRows(from, to, order("DESC"), insert);
  return { name, rows: to.prepare<[], number>(`SELECT count(*) FROM ${name}`).pluck().get()!, cut: !whole };
}

/** True when it came to the end. */
function copyRows(from: Database.Database, to: Database.Database, sql: string, insert: Database.Statement): boolean {
  let batch: unknown[][] = [];
  const write = to.transaction(() => {
    for (const row of batch) insert.run(row);
  });
  try {
    for (const row of from.prepare<[], unknown[]>(sql).raw().iterate()) {
      batch.push(row);
      if (batch.length < BATCH_ROWS) continue;
      write();
      batch = [];
    }
    return true;
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|ERROR|IOERR)/.test((error as { code?: string }).code ?? "")) throw error;
    return false;
  } finally {
    write();
  }
}
