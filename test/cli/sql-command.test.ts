import { describe, expect, test } from "vitest";
import { entity, open, SECOND, sample, source, T0, temporaryFile } from "../store/store-fixtures.js";
import { cli } from "./run-in-process.js";

function filled(): string {
  const db = temporaryFile();
  const store = open(db);
  const rows = Array.from({ length: 5 }, (_, i) => sample(entity("gpu", `GPU-\u001b[31m${i}`), T0 + i * SECOND, { power_w: 100 + i }));
  store.sink.samples(source("dcgm"), rows);
  store.close();
  return db;
}

describe("sql", () => {
  test("prints a table for people, with control characters made visible", async () => {
    const { out, status } = await cli(["sql", "SELECT uuid, power_w, temp_c FROM gpu WHERE power_w < 102", "--db", filled()]);
    expect(status).toBe(0);
    expect(out.split("\n")).toEqual([
      "uuid           power_w  temp_c",
      "GPU-\\x1b[31m0      100       -",
      "GPU-\\x1b[31m1      101       -",
      "",
    ]);
  });

  test("prints at most so many rows, and says so on stderr", async () => {
    const db = filled();
    const cut = await cli(["sql", "SELECT power_w FROM gpu", "--limit", "3", "--db", db]);
    expect(cut.out.trim().split("\n")).toHaveLength(4);
    expect(cut.err).toContain("only the first 3 rows");
    const exact = await cli(["sql", "SELECT power_w FROM gpu", "--limit", "5", "--db", db]);
    expect(exact.err).toBe("");
    expect(await cli(["sql", "SELECT 1", "--limit", "x", "--db", db])).toMatchObject({ status: 2 });
  });

  test("prints JSON", async () => {
    const db = filled();
    expect(JSON.parse((await cli(["sql", "SELECT uuid, power_w, temp_c FROM gpu LIMIT 2", "--json", "--db", db])).out)).toEqual([
      { uuid: "GPU-\u001b[31m0", power_w: 100, temp_c: null },
      { uuid: "GPU-\u001b[31m1", power_w: 101, temp_c: null },
    ]);
    expect((await cli(["sql", "SELECT * FROM run", "--json", "--db", db])).out).toBe("[]\n");
  });

  test.each([
    ["DELETE FROM gpu_sample", "does not only read"],
    ["SELECT a FROM nowhere", "no such table: nowhere"],
    ["SELECT 1; SELECT 2", "not one SQL statement"],
  ])("refuses %j with one line", async (sql, text) => {
    const answer = await cli(["sql", sql, "--db", filled()]);
    expect(answer).toMatchObject({ status: 2, out: "" });
    expect(answer.err.trimEnd().split("\n")).toEqual([expect.stringContaining(text)]);
  });
});
