import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { openStore, type Store } from "../../src/store/open-store.js";
import { damage } from "./damage.js";
import { entity, open, request, SECOND, sample, smallDisk, source, T0, temporaryFile, temporaryFolder } from "./store-fixtures.js";

const gpu = entity("gpu", "GPU-1");
const rows = (from: number, n: number): ReturnType<typeof sample>[] =>
  Array.from({ length: n }, (_, i) => sample(gpu, T0 + (from + i) * SECOND, { power_w: from + i, fb_used_bytes: Math.sqrt(from + i) }));
const everything = { from_us: T0, to_us: T0 + 1e6 * SECOND };
const stored = (store: Store): number => store.read.telemetry(everything).tracks[0]?.ts_us.length ?? 0;
const failure = (body: () => unknown): { code: string; message: string; mend: string | null } => {
  try {
    body();
  } catch (error) {
    return error as { code: string; message: string; mend: string | null };
  }
  throw new Error("no error");
};

/** Fills the disk; where there is none of its own, keeps a lock that no writer gets past. Gives what undoes it. */
function block(folder: string | null, file: string): () => void {
  if (folder) {
    const filler = path.join(folder, "filler");
    const fd = fs.openSync(filler, "w");
    try {
      for (const size of [65536, 4096]) {
        try {
          for (;;) fs.writeSync(fd, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      }
    } finally {
      fs.closeSync(fd);
    }
    return () => fs.rmSync(filler);
  }
  const other = new Database(file);
  other.exec("BEGIN IMMEDIATE");
  return () => other.close();
}

describe("a disk that refuses", () => {
  test("loses nothing while the buffer holds, and a daemon recovers by itself", () => {
    const folder = smallDisk(4);
    const file = path.join(folder ?? temporaryFolder(), "x.db");
    const store = open(file, { flushIntervalMs: 3_600_000, busyTimeoutMs: 10 });
    store.sink.samples(source("s"), rows(0, 100));
    store.sink.flush();
    const unblock = block(folder, file);
    store.sink.samples(source("s"), rows(100, 9000));
    store.sink.manifest(null, { engine: "vllm" });
    store.sink.flush();
    const during = store.sink.health();
    expect(during).toMatchObject({ bufferedRows: 9000, droppedRows: 0, flushes: 1 });
    expect(during.lastError).toBe(folder ? "the disk is full" : "another process holds it locked");
    expect(stored(store)).toBe(100);
    unblock();
    store.sink.flush();
    expect(store.sink.health()).toMatchObject({ bufferedRows: 0, droppedRows: 0, flushes: 2, lastError: null });
    expect(stored(store)).toBe(9100);
  });

  test("costs the oldest rows when the buffer is full, counted, without a throw while rows are taken", () => {
    const file = temporaryFile();
    const store = open(file, { flushIntervalMs: 3_600_000, busyTimeoutMs: 1, flushRows: 100, maxBufferedRows: 300 });
    const unblock = block(null, file);
    for (let i = 0; i < 10; i++) store.sink.samples(source("s"), rows(i * 100, 100));
    expect(store.sink.health()).toMatchObject({ bufferedRows: 300, droppedRows: 700 });
    unblock();
    store.sink.flush();
    expect(store.read.telemetry(everything).tracks[0]!.columns.power_w![0]).toBe(700);
    expect(stored(store)).toBe(300);
  });

  test("makes a command fail, and tells it of lost rows even when the last flush succeeds", () => {
    const file = temporaryFile();
    const store = open(file, { busyTimeoutMs: 1, flushRows: 100, maxBufferedRows: 300 });
    const unblock = block(null, file);
    store.sink.samples(source("s"), rows(0, 100));
    expect(failure(() => store.sink.flush())).toMatchObject({ code: "DB_WRITE", message: expect.stringContaining("locked") });
    store.sink.samples(source("s"), rows(100, 400));
    unblock();
    expect(failure(() => store.sink.flush())).toMatchObject({
      code: "DB_WRITE",
      message: expect.stringMatching(/^200 rows could not be written/),
    });
    store.sink.flush();
    expect(stored(store)).toBe(300);
  });

  test("fails one clear line for a run", () => {
    const file = temporaryFile();
    const store = open(file, { busyTimeoutMs: 1 });
    const unblock = block(null, file);
    expect(failure(() => store.runs.start("r", T0))).toMatchObject({
      code: "DB_WRITE",
      message: `the database ${file} cannot be written: another process holds it locked`,
    });
    unblock();
  });
});

describe("flushing", () => {
  test("happens by row count and by time", async () => {
    const store = open(temporaryFile(), { flushRows: 10 });
    store.sink.samples(source("s"), rows(0, 9));
    expect(store.sink.health()).toMatchObject({ bufferedRows: 9, flushes: 0, lastFlushDurationMs: null });
    store.sink.samples(source("s"), rows(9, 1));
    expect(store.sink.health()).toMatchObject({ bufferedRows: 0, flushes: 1, lastFlushDurationMs: expect.any(Number) });
    const daemon = open(temporaryFile(), { flushIntervalMs: 5 });
    daemon.sink.requests(source("s"), [request("a", T0)]);
    while (daemon.sink.health().bufferedRows > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(daemon.sink.health()).toMatchObject({ flushes: 1, lastError: null });
  });

  test("drops a chunk that no disk could take, counts it and keeps its neighbours", () => {
    const store = open(temporaryFile(), { flushIntervalMs: 3_600_000 });
    store.sink.samples(source("s"), rows(0, 3));
    store.sink.requests(source("s"), [{ ...request("bad", T0), status: Symbol("x") as never }]);
    store.sink.samples(source("s"), rows(3, 3));
    store.sink.flush();
    expect(store.sink.health()).toMatchObject({ bufferedRows: 0, droppedRows: 1 });
    expect(stored(store)).toBe(6);
  });

  test("a closed store is closed once, with what was buffered", () => {
    const file = temporaryFile();
    const store = open(file);
    store.sink.samples(source("s"), rows(0, 5));
    store.close();
    store.close();
    expect(stored(open(file, { mode: "read" }))).toBe(5);
  });
});

describe("opening", () => {
  test("a missing file for reading says how to make one, and makes none", () => {
    const file = temporaryFile();
    expect(failure(() => openStore(file, { mode: "read" }))).toMatchObject({
      code: "DB_OPEN",
      message: `there is no database at ${file}`,
      mend: expect.stringContaining("whyslow import"),
    });
    expect(failure(() => openStore(file, { mode: "write", create: false }))).toMatchObject({ code: "DB_OPEN" });
    expect(fs.existsSync(file)).toBe(false);
  });

  test("for writing makes the folders above", () => {
    const file = path.join(temporaryFolder(), "a", "b", "c.db");
    open(file).close();
    expect(fs.existsSync(file)).toBe(true);
  });

  test("an empty file is no database to read and a new one to write", () => {
    const file = temporaryFile();
    fs.writeFileSync(file, "");
    expect(failure(() => openStore(file, { mode: "read" }))).toMatchObject({ code: "DB_OPEN", message: `the database ${file} is empty` });
    expect(open(file).runs.list()).toEqual([]);
  });

  test.each(["read", "write"] as const)("a file that is no database, and a folder, are refused for %s", (mode) => {
    const file = temporaryFile();
    fs.writeFileSync(file, "this is not a database, it is a long enough text ".repeat(50));
    expect(failure(() => openStore(file, { mode }))).toMatchObject({ code: "DB_CORRUPT", message: expect.stringContaining(file) });
    expect(failure(() => openStore(path.dirname(file), { mode }))).toMatchObject({ code: "DB_OPEN" });
    expect(failure(() => openStore(path.join(file, "below"), { mode }))).toMatchObject({ code: "DB_OPEN" });
  });

  test("a damaged page is one clear error when it is met", () => {
    const file = temporaryFile();
    const store = open(file);
    store.sink.samples(source("s"), rows(0, 5000));
    store.close();
    damage(file, "gpu_sample", 0.4, 0.5);
    expect(failure(() => open(file, { mode: "read" }).read.telemetry(everything))).toMatchObject({
      code: "DB_CORRUPT",
      message: `the database ${file} is damaged`,
      mend: expect.stringContaining("db repair"),
    });
  });

  test("a store for reading takes no rows", () => {
    const file = temporaryFile();
    open(file).close();
    const store = open(file, { mode: "read" });
    expect(failure(() => store.sink.samples(source("s"), rows(0, 1)))).toMatchObject({ code: "DB_WRITE" });
    expect(failure(() => store.runs.create("x"))).toMatchObject({ code: "DB_WRITE", message: expect.stringContaining("read-only") });
  });

  test("reads from a disk that is read-only, and says so when it is to write", () => {
    const folder = smallDisk(4);
    const file = path.join(folder ?? temporaryFolder(), "x ü%20#.db");
    const store = open(file);
    store.sink.samples(source("s"), rows(0, 5));
    store.close();
    if (folder) execFileSync("mount", ["-o", "remount,ro", folder]);
    else fs.chmodSync(path.dirname(file), 0o500);
    expect(stored(open(file, { mode: "read" }))).toBe(5);
    expect(failure(() => openStore(file, { mode: "write" }))).toMatchObject({ code: expect.stringMatching(/^DB_(OPEN|WRITE)$/) });
    if (!folder) fs.chmodSync(path.dirname(file), 0o700);
  });
});
