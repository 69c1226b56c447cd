import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterEach, describe, expect, test } from "vitest";
import { queryDatabase } from "../../src/store/query-database.js";
import { entity, open, request, SECOND, sample, source, T0, temporaryFolder } from "./store-fixtures.js";

const root = path.resolve(import.meta.dirname, "../..");
const locked: string[] = [];
afterEach(() => {
  for (const folder of locked.splice(0)) fs.chmodSync(folder, 0o700);
});

const fill = (file: string, rows: number): void => {
  const store = open(file);
  for (let i = 0; i < rows; i++) store.sink.samples(source("s", "r"), [sample(entity("host", "n1"), T0 + i * SECOND, { load1: i })]);
  store.sink.requests(source("s", "r"), [request("a", T0)]);
  store.close();
};

/** Counts the rows as a user who may not write: this one, or nobody where this one may do all. */
function rowsSeenByOther(file: string): string {
  const folder = path.dirname(file);
  locked.push(folder);
  for (const name of fs.readdirSync(folder)) fs.chmodSync(path.join(folder, name), 0o444);
  fs.chmodSync(folder, 0o555);
  const code = `import { openStore } from ${JSON.stringify(path.join(root, "src/store/open-store.ts"))};
    try {
      const store = openStore(${JSON.stringify(file)}, { mode: "read" });
      console.log(store.read.telemetry({ run: "r" }).tracks[0].ts_us.length);
      store.close();
    } catch (error) { console.log(String(error.message), error.mend); }`;
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const ended = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, TSX_DISABLE_CACHE: "1" },
    ...nobody,
  });
  return ended.stdout.trim() || ended.stderr;
}

describe("a database in a folder that cannot be written is read", () => {
  test("alone", () => {
    const file = path.join(temporaryFolder(), "x.db");
    fill(file, 5);
    expect(fs.readdirSync(path.dirname(file))).toEqual(["x.db"]);
    expect(rowsSeenByOther(file)).toBe("5");
    expect(fs.readdirSync(path.dirname(file))).toEqual(["x.db"]);
  });

  test("with a log that was not folded in, as a copy of a killed writer's files has it", () => {
    const from = path.join(temporaryFolder(), "x.db");
    const store = open(from);
    store.sink.samples(source("s", "r"), [sample(entity("host", "n1"), T0, { load1: 1 })]);
    store.sink.flush();
    const folder = temporaryFolder();
    for (const end of ["", "-wal", "-shm"]) fs.copyFileSync(from + end, path.join(folder, `x.db${end}`));
    expect(fs.statSync(path.join(folder, "x.db-wal")).size).toBeGreaterThan(0);
    expect(rowsSeenByOther(path.join(folder, "x.db"))).toBe("1");
  });

  test("with the empty log and index that an earlier reader left", () => {
    const file = path.join(temporaryFolder(), "x.db");
    fill(file, 5);
    const reader = new Database(file, { readonly: true });
    reader.prepare("SELECT count(*) FROM run").get();
    reader.close();
    expect(fs.readdirSync(path.dirname(file)).length).toBeGreaterThan(1);
    expect(rowsSeenByOther(file)).toBe("5");
  });
});

describe("reading leaves nothing beside the database", () => {
  test("when it was alone", () => {
    const file = path.join(temporaryFolder(), "x.db");
    fill(file, 5);
    const store = open(file, { mode: "read" });
    expect(store.read.requestViews({ run: "r" })).toHaveLength(1);
    store.close();
    queryDatabase(file, "SELECT count(*) FROM run", (r) => [...r.rows()]);
    expect(fs.readdirSync(path.dirname(file))).toEqual(["x.db"]);
  });

  test("but what a writer needs stays, whoever closes first", () => {
    const file = path.join(temporaryFolder(), "x.db");
    fill(file, 5);
    const reader = open(file, { mode: "read" });
    const writer = open(file);
    reader.close();
    writer.sink.requests(source("s", "r"), [request("b", T0 + 1)]);
    writer.sink.flush();
    const second = open(file, { mode: "read" });
    expect(second.read.requestViews({ run: "r" })).toHaveLength(2);
    second.close();
    expect(fs.existsSync(`${file}-wal`)).toBe(true);
    writer.close();
    expect(fs.readdirSync(path.dirname(file))).toEqual(["x.db"]);
  });
});
