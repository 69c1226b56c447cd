import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import readline from "node:readline";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { open, SECOND, T0, temporaryFile } from "./store-fixtures.js";

const KILLS = process.env.WHYSLOW_FULL === "1" ? 10 : 2;
const root = path.resolve(import.meta.dirname, "../..");

test.each(Array.from({ length: KILLS }, (_, i) => 3 + i * 4))(
  "a writer killed after %i flushes loses no committed row",
  async (flushes) => {
    const file = temporaryFile();
    const child = spawn(process.execPath, ["--import", "tsx", path.join(import.meta.dirname, "writing-child.ts"), file], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let committed = 0;
    let seen = 0;
    try {
      for await (const line of readline.createInterface({ input: child.stdout })) {
        committed = Number(line);
        if (++seen === flushes) break;
      }
    } finally {
      child.kill("SIGKILL");
    }
    if (child.signalCode === null && child.exitCode === null) await once(child, "exit");
    expect(committed).toBeGreaterThan(0);

    const raw = new Database(file);
    expect(raw.pragma("integrity_check", { simple: true })).toBe("ok");
    raw.close();
    const store = open(file);
    const all = { from_us: T0, to_us: T0 + 1e7 * SECOND };
    const power = store.read.telemetry(all).tracks[0]!.columns.power_w!;
    expect(power.length).toBeGreaterThanOrEqual(committed);
    expect(power.every((value, i) => value === i)).toBe(true);
    expect(store.read.requestViews(all).length).toBe(power.length);
  },
);
