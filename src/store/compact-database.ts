import fs from "node:fs";
import { connectWriter } from "./connection.js";
import { storeError } from "./store-error.js";

export interface Compaction {
  readonly file: string;
  readonly before_bytes: number;
  readonly after_bytes: number;
}

const WAIT_MS = 5000;

/** Folds the write-ahead log into the file and gives unused space back. Needs as much free disk as the file is large. Throws DB_WRITE. */
export function compactDatabase(file: string): Compaction {
  const size = (): number => [file, `${file}-wal`].reduce((sum, f) => sum + (fs.statSync(f, { throwIfNoEntry: false })?.size ?? 0), 0);
  const db = connectWriter(file, WAIT_MS, false);
  const before = size();
  try {
    db.pragma("wal_checkpoint(TRUNCATE)");
    db.exec("VACUUM");
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    throw storeError(error, file, "write");
  } finally {
    db.close();
  }
  return { file, before_bytes: before, after_bytes: size() };
}
