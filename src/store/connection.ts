import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { AppError } from "../../schemas/error-codes.js";
import { keepNativeObjects } from "./keep-native-objects.js";
import { checkOwner, type Migration, migrate, migrations, newestVersion, schemaVersion } from "./migrate.js";
import { storeError } from "./store-error.js";

const WAL_LIMIT_BYTES = 64 * 1024 * 1024;

const missing = (file: string): AppError =>
  new AppError("DB_OPEN", `there is no database at ${file}`, {
    mend: "make one with `whyslow import` or `whyslow agent`, or give another file with --db",
  });

function refuseFolder(file: string): void {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new AppError("DB_OPEN", `${file} is a folder, not a database`, { mend: "give a file with --db" });
}

/** Opens for writing, and makes folder, file and schema where they are missing. */
export function connectWriter(
  file: string,
  busyTimeoutMs: number,
  create = true,
  steps: readonly Migration[] = migrations(),
): Database.Database {
  let db: Database.Database | undefined;
  try {
    if (!create && !fs.existsSync(file)) throw missing(file);
    refuseFolder(file);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    db = keepNativeObjects(new Database(file, { timeout: busyTimeoutMs }));
    checkOwner(db, file);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
    migrate(db, file, steps);
    return db;
  } catch (error) {
    db?.close();
    throw storeError(error, file, "open");
  }
}

/** Opens for reading beside a writer. A database of an older version is brought forward first. */
export function connectReader(file: string, busyTimeoutMs: number): Database.Database {
  if (!fs.existsSync(file)) throw missing(file);
  refuseFolder(file);
  let db: Database.Database | undefined;
  try {
    db = openReadonly(file, busyTimeoutMs);
    checkOwner(db, file);
    const version = schemaVersion(db);
    if (version === newestVersion()) return db;
    db.close();
    if (version === 0)
      throw new AppError("DB_OPEN", `the database ${file} is empty`, { mend: "fill it with `whyslow import` or `whyslow agent`" });
    connectWriter(file, busyTimeoutMs, false).close();
    db = openReadonly(file, busyTimeoutMs);
    return db;
  } catch (error) {
    db?.close();
    throw storeError(error, file, "open");
  }
}

const tidied = new WeakMap<Database.Database, string>();

/** Closes a reader; the files that SQLite needed beside the database go with the last one who needs them. */
export function closeReader(db: Database.Database): void {
  db.close();
  const file = tidied.get(db);
  if (file === undefined) return;
  tidied.delete(db);
  try {
    // Only a connection that may write takes them away, and only when nobody else has the database open.
    const last = keepNativeObjects(new Database(file, { fileMustExist: true, timeout: 0 }));
    try {
      last.prepare("SELECT count(*) FROM sqlite_master").get();
    } finally {
      last.close();
    }
  } catch {
    // They stay, which does no harm.
  }
}

const BESIDE = /^SQLITE_(CANTOPEN|READONLY)/;

function openReadonly(file: string, busyTimeoutMs: number): Database.Database {
  const logBytes = fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  try {
    const db = openAndTouch(file, busyTimeoutMs);
    if (logBytes === 0) tidied.set(db, file);
    return db;
  } catch (error) {
    if (!BESIDE.test((error as { code?: string }).code ?? "") || !isReadable(file)) throw error;
    return openCopy(file, busyTimeoutMs);
  }
}

function isReadable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function openAndTouch(file: string, busyTimeoutMs: number): Database.Database {
  const db = keepNativeObjects(new Database(file, { readonly: true, timeout: busyTimeoutMs }));
  try {
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLite needs a file beside a WAL database even to read it: in a folder that cannot be written, a passing copy is read. */
function openCopy(file: string, busyTimeoutMs: number): Database.Database {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-read-"));
  try {
    const copy = path.join(folder, "copy.db");
    fs.copyFileSync(file, copy);
    if (fs.existsSync(`${file}-wal`)) fs.copyFileSync(`${file}-wal`, `${copy}-wal`);
    return openAndTouch(copy, busyTimeoutMs);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).message;
    throw new AppError("DB_OPEN", `the database ${file} cannot be read where it lies, nor copied to ${os.tmpdir()}: ${why}`, {
      mend: "copy it, with its -wal file where there is one, to a folder that you can write, and give that with --db",
      cause: error,
    });
  } finally {
    // Open files stay readable without their names.
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
