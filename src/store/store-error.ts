import Database from "better-sqlite3";
import { AppError, type ErrorCode } from "../../schemas/error-codes.js";

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;
/** The disk's or another process's fault: trying again later can help. */
const PASSING = /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|PROTOCOL)/;

const WORDS: readonly (readonly [RegExp, string, string])[] = [
  [/^SQLITE_FULL/, "the disk is full", "free some space"],
  [/^SQLITE_(BUSY|LOCKED)/, "another process holds it locked", "wait for that process or end it"],
  [/^SQLITE_READONLY/, "it is read-only", "check the permissions of the file and its folder, or copy it to a folder that you can write"],
  [/^SQLITE_CANTOPEN/, "the file or its folder cannot be opened", "check that the path exists and its permissions"],
  [/^SQLITE_IOERR/, "the disk reports an I/O error", "check the disk"],
];

const codeOf = (error: unknown): string =>
  error instanceof Database.SqliteError ? error.code : String((error as NodeJS.ErrnoException | null)?.code ?? "");

export const isPassing = (error: unknown): boolean => PASSING.test(codeOf(error));

export const describeError = (error: unknown): string => {
  const code = codeOf(error);
  const known = WORDS.find(([pattern]) => pattern.test(code));
  return known ? known[1] : error instanceof Error ? error.message : String(error);
};

/** One clear error for whatever SQLite or the file system said about `file`. */
export function storeError(error: unknown, file: string, doing: "open" | "write"): AppError {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (DAMAGED.test(code)) {
    const what = code === "SQLITE_NOTADB" ? "is not an SQLite database, or its first page is damaged" : "is damaged";
    return new AppError("DB_CORRUPT", `the database ${file} ${what}`, {
      mend: "try `whyslow db repair`, or give another file with --db",
      cause: error,
    });
  }
  const known = WORDS.find(([pattern]) => pattern.test(code));
  const appCode: ErrorCode = doing === "open" ? "DB_OPEN" : "DB_WRITE";
  const verb = doing === "open" ? "opened" : "written";
  return new AppError(appCode, `the database ${file} cannot be ${verb}: ${describeError(error)}`, {
    mend: known ? known[2] : "check the path and its permissions, or give another file with --db",
    cause: error,
  });
}
