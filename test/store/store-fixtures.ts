import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach } from "vitest";
import { type OpenOptions, openStore, type Store } from "../../src/store/open-store.js";
import { T0 } from "./store-rows.js";

export * from "./store-rows.js";

const made: string[] = [];
const mounted: string[] = [];
const opened: Store[] = [];

afterEach(() => {
  for (const store of opened.splice(0)) {
    try {
      store.close();
    } catch {
      // The test has seen this failure already.
    }
  }
  for (const folder of mounted.splice(0)) execFileSync("umount", ["--lazy", folder]);
  for (const folder of made.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-store-"));
  made.push(folder);
  return folder;
}

export const temporaryFile = (): string => path.join(temporaryFolder(), "test.db");

/** Opened with the wall clock at `T0`; closed after the test. */
export function open(file: string, options: Partial<OpenOptions> = {}): Store {
  const store = openStore(file, { mode: "write", wallUs: () => T0, ...options });
  opened.push(store);
  return store;
}

/** A small disk of its own, or null where this process may not mount one. */
export function smallDisk(megabytes: number): string | null {
  const folder = temporaryFolder();
  if (process.getuid?.() !== 0 || spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]).status !== 0)
    return null;
  mounted.push(folder);
  return folder;
}
