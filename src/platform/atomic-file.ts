import fs from "node:fs";
import path from "node:path";
import { AppError } from "../../schemas/error-codes.js";

/**
 * Writes a file whole or not at all: beside it, flushed, then renamed over it. A symbolic link, a folder or a device in its place is
 * refused, for a rename would replace the link and not what it names. Throws FILE_WRITE.
 */
export function writeAtomically(file: string, content: string | Uint8Array): void {
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  let made = false;
  try {
    refuseOther(file);
    // wx: whatever lies there under that name is not ours to follow or to overwrite.
    const handle = fs.openSync(beside, "wx", 0o644);
    made = true;
    try {
      fs.writeFileSync(handle, content);
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
    fs.renameSync(beside, file);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (made) fs.rmSync(beside, { force: true });
    throw new AppError("FILE_WRITE", `${file} cannot be written: ${REASONS[code ?? ""] ?? (error as Error).message}`, {
      cause: error,
      ...(code === "ENOENT" ? { mend: `make the folder first: ${path.dirname(file)}` } : {}),
      ...(code === "EEXIST" ? { mend: `remove ${beside}` } : {}),
    });
  }
}

/** Only nothing or a regular file may be replaced. */
function refuseOther(file: string): void {
  const there = fs.lstatSync(file, { throwIfNoEntry: false });
  if (there === undefined || there.isFile()) return;
  const what = there.isSymbolicLink() ? "is a symbolic link" : there.isDirectory() ? "is a folder" : "is no regular file";
  throw new AppError("FILE_WRITE", `${file} ${what}: not replaced`, {
    mend: there.isSymbolicLink() ? `name the file itself: ${linkTarget(file)}` : "name a file",
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder is no folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EEXIST: "a temporary file of that name is in the way",
};

function linkTarget(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return fs.readlinkSync(file);
  }
}
