import fs from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { checkDatabase } from "../../src/store/check-database.js";
import { compactDatabase } from "../../src/store/compact-database.js";
import { queryDatabase } from "../../src/store/query-database.js";
import { repairDatabase } from "../../src/store/repair-database.js";
import { damage } from "./damage.js";
import { entity, open, request, SECOND, sample, source, T0, temporaryFile } from "./store-fixtures.js";

const N = 5000;
const all = { from_us: T0, to_us: T0 + N * SECOND };

function filled(): string {
  const file = temporaryFile();
  const store = open(file);
  store.sink.samples(
    source("s"),
    Array.from({ length: N }, (_, i) => sample(entity("gpu", "G"), T0 + i * SECOND, { power_w: i, temp_c: Math.sqrt(i) })),
  );
  store.sink.requests(source("o"), [request("a", T0, { span_key: "t/s" })]);
  store.close();
  return file;
}

describe("check", () => {
  test("tells version, sizes and extent of a sound file", () => {
    const file = filled();
    const found = checkDatabase(file);
    expect(found).toMatchObject({
      version: 1,
      problems: [],
      first_us: T0,
      last_us: T0 + (N - 1) * SECOND,
      file_bytes: fs.statSync(file).size,
    });
    const gpu = found.tables.find((t) => t.name === "gpu_sample")!;
    expect(gpu.rows).toBe(N);
    expect(gpu.bytes).toBeGreaterThan(N * 10);
    expect(gpu.bytes).toBeLessThan(found.file_bytes);
  });

  test("finds a damaged page, and rows whose dictionary entry is gone", () => {
    const file = filled();
    damage(file, "gpu_sample", 0.5, 0.51);
    expect(checkDatabase(file).problems.length).toBeGreaterThan(0);
    const other = filled();
    const db = new Database(other);
    db.exec("DELETE FROM entity");
    db.close();
    expect(checkDatabase(other).problems).toEqual([`${N} rows of gpu_sample name a entity that is not there`]);
    expect(open(other).read.telemetry(all).tracks[0]!.entity).toMatchObject({ kind: "gpu", key: "lost:1" });
  });
});

describe("repair", () => {
  test("has nothing to do on a sound file", () => {
    expect(repairDatabase(filled())).toMatchObject({ outcome: "sound", copy: null });
  });

  test("saves the rows on both sides of the damage into a copy and leaves the file alone", () => {
    const file = filled();
    damage(file, "gpu_sample", 0.4, 0.5);
    const before = fs.readFileSync(file);
    const done = repairDatabase(file);
    expect(done).toMatchObject({ outcome: "copied", copy: `${file}.repaired` });
    const gpu = done.tables.find((t) => t.name === "gpu_sample")!;
    expect(gpu.cut).toBe(true);
    expect(gpu.rows).toBeGreaterThan(N * 0.8);
    expect(gpu.rows).toBeLessThan(N);
    expect(fs.readFileSync(file).equals(before)).toBe(true);
    expect(checkDatabase(done.copy!).problems).toEqual([]);
    const store = open(done.copy!, { mode: "read" });
    const track = store.read.telemetry(all).tracks[0]!;
    expect(track.columns.power_w!.every((p, i) => track.ts_us[i] === T0 + p * SECOND)).toBe(true);
    expect(track.ts_us.at(-1)).toBe(T0 + (N - 1) * SECOND);
    expect(store.read.requestViews(all)).toHaveLength(1);
    expect(() => repairDatabase(file)).toThrow(/is there already/);
  });

  test("rebuilds an index in place", () => {
    const file = filled();
    const withSchemaOpen = (body: (db: Database.Database) => void): void => {
      const db = new Database(file);
      db.unsafeMode(true);
      db.pragma("writable_schema = ON");
      body(db);
      db.close();
    };
    // Hides the index while a row is written.
    let hidden: Record<string, unknown> = {};
    withSchemaOpen((db) => {
      hidden = db.prepare<[], Record<string, unknown>>("DELETE FROM sqlite_master WHERE name = 'request_span' RETURNING *").get()!;
    });
    withSchemaOpen((db) => {
      db.exec(`INSERT INTO request (start_us, source, request_id, span_key, join_id, view, server, status, warmup)
        SELECT start_us + 1, source, 'b', 't/z', join_id, view, server, status, warmup FROM request`);
      db.prepare("INSERT INTO sqlite_master VALUES (@type, @name, @tbl_name, @rootpage, @sql)").run(hidden);
    });
    expect(checkDatabase(file).problems).toContainEqual(expect.stringMatching(/missing from index request_span/));
    expect(repairDatabase(file)).toMatchObject({ outcome: "reindexed", copy: null });
    expect(checkDatabase(file).problems).toEqual([]);
  });

  test("says so when nothing can be read", () => {
    const file = temporaryFile();
    fs.writeFileSync(file, Buffer.alloc(50_000, 7));
    expect(() => repairDatabase(file)).toThrow(/nothing can be read/);
    expect(() => repairDatabase(`${file}.none`)).toThrow(/there is no database/);
  });
});

test("compact gives deleted rows' space back and keeps the rest", () => {
  const file = filled();
  const db = new Database(file);
  db.exec(`DELETE FROM gpu_sample WHERE ts_us > ${T0 + 10 * SECOND}`);
  db.close();
  const done = compactDatabase(file);
  expect(done.after_bytes).toBeLessThan(done.before_bytes / 1.4);
  expect(done.after_bytes).toBe(fs.statSync(file).size);
  expect(open(file).read.telemetry(all).tracks[0]!.ts_us.length).toBe(11);
  expect(() => compactDatabase(`${file}.none`)).toThrow(/there is no database/);
});

describe("query", () => {
  const ask = (file: string, sql: string): unknown => queryDatabase(file, sql, (r) => ({ columns: r.columns, rows: [...r.rows()] }));

  test("reads views, keeps large integers and blobs as text, tells columns of one name apart", () => {
    const file = filled();
    expect(ask(file, "SELECT time, node, uuid, source, power_w FROM gpu ORDER BY ts_us LIMIT 1 OFFSET 1")).toEqual({
      columns: ["time", "node", "uuid", "source", "power_w"],
      rows: [["2026-01-01T00:00:01.000000Z", "n1", "G", "s", 1]],
    });
    expect(ask(file, "SELECT 9223372036854775807 AS a, x'00ff' AS b, NULL AS a, 0.5 AS c")).toEqual({
      columns: ["a", "b", "a_2", "c"],
      rows: [["9223372036854775807", "00ff", null, 0.5]],
    });
  });

  test.each([
    "DELETE FROM run",
    "DELETE FROM run RETURNING id",
    "DROP TABLE run",
    "ATTACH '/tmp/x.db' AS x",
    "PRAGMA user_version = 3",
    "SELECT 1; DELETE FROM run",
    "",
    "VACUUM",
    "BEGIN",
  ])("refuses %j", (sql) => {
    const file = filled();
    const before = fs.readFileSync(file);
    expect(() => ask(file, sql)).toThrow(expect.objectContaining({ code: "USAGE" }));
    expect(fs.readFileSync(file).equals(before)).toBe(true);
  });
});
