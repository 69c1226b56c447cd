import fs from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { COLUMNS, ENTITY_KINDS } from "../../schemas/columns/index.js";
import { migrate, migrations, newestVersion, schemaVersion } from "../../src/store/migrate.js";
import { openStore } from "../../src/store/open-store.js";
import { open, temporaryFile } from "./store-fixtures.js";

const columns = (db: Database.Database, table: string): string[] =>
  db.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}') ORDER BY cid`).pluck().all();

const code = (body: () => unknown): unknown => {
  try {
    body();
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return "no error";
};

describe("the schema", () => {
  test.each(ENTITY_KINDS)("has exactly the canonical columns of a %s, in the table and in its view", (kind) => {
    const db = new Database(":memory:");
    migrate(db, ":memory:");
    const names = COLUMNS[kind].map((c) => c.name);
    expect(columns(db, `${kind}_sample`)).toEqual(["ts_us", "entity", "source", "epoch", ...names]);
    expect(columns(db, kind).slice(-names.length)).toEqual(names);
    const types = db.prepare<[], string>(`SELECT DISTINCT type FROM pragma_table_info('${kind}_sample') WHERE cid > 3`).pluck().all();
    expect(types).toEqual(["REAL"]);
    db.close();
  });

  test("has only strict tables, and views that can be read", () => {
    const db = new Database(":memory:");
    migrate(db, ":memory:");
    const loose = db
      .prepare("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all();
    expect(loose).toEqual([]);
    const views = db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").pluck().all();
    expect(views).toEqual(["entities", "gpu", "host", "link", "process", "requests", "series_value", "server"]);
    for (const view of views) expect(db.prepare(`SELECT * FROM ${view}`).all()).toEqual([]);
    db.close();
  });
});

describe("migrations", () => {
  test("are numbered without a gap from 1", () => {
    expect(migrations().map((m) => m.version)).toEqual(migrations().map((_, i) => i + 1));
  });

  test("go forward from version 0 and change nothing the second time", () => {
    const db = new Database(":memory:");
    expect(schemaVersion(db)).toBe(0);
    migrate(db, ":memory:");
    expect(schemaVersion(db)).toBe(newestVersion());
    const before = db.prepare("SELECT sql FROM sqlite_master ORDER BY name").pluck().all();
    migrate(db, ":memory:");
    expect(db.prepare("SELECT sql FROM sqlite_master ORDER BY name").pluck().all()).toEqual(before);
    db.close();
  });

  test("keep what is stored and add what is new; a step that fails leaves nothing behind", () => {
    const db = new Database(":memory:");
    migrate(db, ":memory:");
    db.exec("INSERT INTO run (id, created_us) VALUES ('r', 1)");
    const version = newestVersion() + 1;
    const bad = { version, name: "bad", sql: "ALTER TABLE run ADD COLUMN extra TEXT; SELECT nonsense FROM nowhere" };
    expect(() => migrate(db, ":memory:", [...migrations(), bad])).toThrow(/nowhere/);
    expect(schemaVersion(db)).toBe(newestVersion());
    expect(columns(db, "run")).not.toContain("extra");
    db.close();
  });

  test("are made by whoever opens first, for reading too", () => {
    const file = temporaryFile();
    const db = new Database(file);
    migrate(db, file);
    db.pragma("user_version = 0");
    db.close();
    // Version 0 with our mark: an upgrade that a kill cut before its first commit.
    expect(code(() => openStore(file, { mode: "read" }))).toBe("DB_OPEN");
  });
});

describe("a database of another version or program", () => {
  test("newer than this program is refused for reading and writing, and left alone", () => {
    const file = temporaryFile();
    open(file).close();
    const db = new Database(file);
    db.pragma(`user_version = ${newestVersion() + 1}`);
    db.close();
    expect(code(() => openStore(file, { mode: "write" }))).toBe("DB_VERSION");
    expect(code(() => openStore(file, { mode: "read" }))).toBe("DB_VERSION");
  });

  test("of another program is refused and left alone", () => {
    const file = temporaryFile();
    const db = new Database(file);
    db.exec("CREATE TABLE theirs (a)");
    db.close();
    const before = fs.readFileSync(file);
    expect(code(() => openStore(file, { mode: "write" }))).toBe("DB_OPEN");
    expect(code(() => openStore(file, { mode: "read" }))).toBe("DB_OPEN");
    expect(fs.readFileSync(file).equals(before)).toBe(true);
  });
});
