import fs from "node:fs";
import path from "node:path";

/**
 * Writes a file so that a reader sees either the old content or all of the new one, also after a power cut: a new file beside
 * it, synced, then renamed over it. Throws the system's error; nothing is left behind.
 */
export function writeFileAtomic(file: string, content: string | Uint8Array): void {
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  try {
    const fd = fs.openSync(beside, "w", 0o644);
    try {
      fs.writeFileSync(fd, content);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(beside, file);
  } catch (error) {
    fs.rmSync(beside, { force: true });
    throw error;
  }
  syncFolder(path.dirname(file));
}

function syncFolder(dir: string): void {
  const fd = fs.openSync(dir, "r");
  try {
    fs.fsyncSync(fd);
  } catch {
    // Some file systems cannot sync a folder; the rename itself has happened.
  } finally {
    fs.closeSync(fd);
  }
}
