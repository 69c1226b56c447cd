import type Database from "better-sqlite3";
import { AppError } from "../../schemas/error-codes.js";
import { closeReader, connectReader } from "./connection.js";
import { storeError } from "./store-error.js";

/** A value as JSON can hold it: integers beyond 2^53 and blobs are text. */
export type Cell = string | number | null;

export interface QueryResult {
  readonly columns: readonly string[];
  /** Rows as they are read; valid until `close`. */
  rows(): IterableIterator<readonly Cell[]>;
}

const WAIT_MS = 5000;
const ONLY_READS = "give one statement that reads, such as `SELECT * FROM gpu ORDER BY ts_us DESC LIMIT 5`";

/** Runs one reading statement on its own read-only connection and hands the result to `use`. Throws USAGE for anything else. */
export function queryDatabase<T>(file: string, sql: string, use: (result: QueryResult) => T): T {
  const db = connectReader(file, WAIT_MS);
  try {
    const statement = prepare(db, sql);
    const columns = distinctNames(statement.columns().map((c) => c.name));
    const iterate = (): IterableIterator<readonly unknown[]> =>
      statement.raw().safeIntegers().iterate() as IterableIterator<readonly unknown[]>;
    return use({
      columns,
      *rows() {
        for (const row of iterate()) yield row.map(cell);
      },
    });
  } catch (error) {
    if ((error as { code?: string }).code === "SQLITE_ERROR") throw new AppError("USAGE", `the query fails: ${(error as Error).message}`);
    throw storeError(error, file, "open");
  } finally {
    closeReader(db);
  }
}

/** Names of the tables and views that hold data, in order. */
export function tableNames(file: string): string[] {
  return queryDatabase(
    file,
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name",
    (r) => [...r.rows()].map(([name]) => String(name)),
  );
}

function prepare(db: Database.Database, sql: string): Database.Statement<[], unknown> {
  let statement: Database.Statement<[], unknown>;
  try {
    statement = db.prepare<[], unknown>(sql);
  } catch (error) {
    if (error instanceof RangeError) throw new AppError("USAGE", `not one SQL statement: ${error.message}`, { mend: ONLY_READS });
    throw error;
  }
  if (!statement.readonly || !statement.reader) throw new AppError("USAGE", "the statement does not only read", { mend: ONLY_READS });
  return statement;
}

function cell(value: unknown): Cell {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (Buffer.isBuffer(value)) return value.toString("hex");
  return value as Cell;
}

/** Two columns of one name would hide each other in an object. */
function distinctNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const n = (seen.get(name) ?? 0) + 1;
    seen.set(name, n);
    return n === 1 ? name : `${name}_${n}`;
  });
}
