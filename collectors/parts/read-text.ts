import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { readFile } from "node:fs/promises";

let buffer = Buffer.allocUnsafe(64 * 1024);

/**
 * The text of a file of /proc or /sys; null when it cannot be read (absent, no permission, not supported, the process ended meanwhile).
 * Synchronous and into one reused buffer, because the kernel answers from memory in some 10 µs, a tenth of what an asynchronous read
 * costs. Only for files that do not wait for a device or for another process's memory lock.
 */
export const readText = (path: string): string | null => {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    let length = 0;
    for (;;) {
      const n = readSync(fd, buffer, length, buffer.length - length, null);
      if (n === 0) return buffer.toString("utf8", 0, length);
      length += n;
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    }
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
};

/** Names in a folder; empty when it cannot be read. */
export const listNames = (path: string): readonly string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

/** The text of a file whose reading may wait for a device or a lock; null when it cannot be read. Never blocks the event loop. */
export const readTextAsync = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, "utf8");
  } catch {
    return null;
  }
};
