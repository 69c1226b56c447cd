import fs from "node:fs";
import path from "node:path";
import { AppError } from "../../schemas/error-codes.js";

export interface InputPath {
  readonly path: string;
  /** The user named this file; otherwise it was found in a folder, where other files may lie. */
  readonly named: boolean;
}

/**
 * Files to import: named ones as they are, folders walked in the order of names. Hidden files are left out, links to folders are
 * not followed.
 *
 * @throws AppError FILE_UNREADABLE for a path that is not there; FILE_EMPTY for a folder without files.
 */
export function expandPaths(paths: readonly string[]): InputPath[] {
  const found = new Map<string, InputPath>();
  for (const given of paths) {
    let isFolder: boolean;
    try {
      isFolder = fs.statSync(given).isDirectory();
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      throw new AppError("FILE_UNREADABLE", `${given} cannot be read: ${missing ? "there is no such file" : (error as Error).message}`, {
        cause: error,
      });
    }
    if (!isFolder) {
      found.set(path.resolve(given), { path: given, named: true });
      continue;
    }
    const files = [...walk(given)];
    if (files.length === 0) throw new AppError("FILE_EMPTY", `${given} holds no files`);
    for (const file of files) if (!found.has(path.resolve(file))) found.set(path.resolve(file), { path: file, named: false });
  }
  return [...found.values()];
}

function* walk(folder: string): Generator<string> {
  let entries: fs.Dirent[];
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new AppError("FILE_UNREADABLE", `${folder} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(at);
    else if (entry.isFile() || (entry.isSymbolicLink() && isFileLink(at))) yield at;
  }
}

function isFileLink(at: string): boolean {
  try {
    return fs.statSync(at).isFile();
  } catch {
    return false;
  }
}
