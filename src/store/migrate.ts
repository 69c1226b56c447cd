import fs from "node:fs";
import type Database from "better-sqlite3";
import { AppError } from "../../schemas/error-codes.js";

/** Marks the file as ours ("whys"), so that no other program's database is taken over. */
export const APPLICATION_ID = 0x77687973;

const FOLDER = new URL("../../schemas/migrations/", import.meta.url);

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

let loaded: readonly Migration[] | undefined;

/** The numbered SQL files, in order; they lie at the same relative place in the source tree and in `dist`. */
export function migrations(): readonly Migration[] {
  loaded ??= fs
    .readdirSync(FOLDER)
    .filter((name) => /^\d{4}-.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), name, sql: fs.readFileSync(new URL(name, FOLDER), "utf8") }));
  return loaded;
}

export const newestVersion = (): number => migrations().at(-1)?.version ?? 0;

export const schemaVersion = (db: Database.Database): number => db.pragma("user_version", { simple: true }) as number;

/** Throws when the file is another program's or a newer version's. An empty database passes. */
export function checkOwner(db: Database.Database, file: string): void {
  const id = db.pragma("application_id", { simple: true }) as number;
  const tables = db.prepare("SELECT count(*) FROM sqlite_master").pluck().get() as number;
  if (id !== APPLICATION_ID && (id !== 0 || tables > 0)) {
    throw new AppError("DB_OPEN", `${file} is a database of another program`, { mend: "give another file with --db" });
  }
  const version = schemaVersion(db);
  if (version > newestVersion()) {
    throw new AppError("DB_VERSION", `the database ${file} has version ${version}, this whyslow knows up to ${newestVersion()}`, {
      mend: "use a newer whyslow, or give another file with --db",
    });
  }
}

/** Brings the schema forward to `to`; each step is one transaction, and a second process that does the same waits. */
export function migrate(db: Database.Database, file: string, steps: readonly Migration[] = migrations()): void {
  for (const step of steps) {
    if (schemaVersion(db) >= step.version) continue;
    db.transaction(() => {
      checkOwner(db, file);
      if (schemaVersion(db) >= step.version) return;
      db.exec(step.sql);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${step.version}`);
    }).immediate();
  }
}
