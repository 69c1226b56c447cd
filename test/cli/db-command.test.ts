import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { damage } from "../store/damage.js";
import { entity, open, SECOND, sample, source, T0, temporaryFile } from "../store/store-fixtures.js";
import { cli } from "./run-in-process.js";

function filled(rows = 2000): string {
  const db = temporaryFile();
  const store = open(db);
  const batch = Array.from({ length: rows }, (_, i) =>
    sample(entity("gpu", "GPU-1"), T0 + i * SECOND, { power_w: i, temp_c: Math.sqrt(i) }),
  );
  store.sink.samples(source("dcgm"), batch);
  store.sink.marks([{ ts_us: T0, node: "n1", kind: "user", text: 'a "quoted", two-line\ntext' }]);
  store.close();
  return db;
}

describe("db", () => {
  test("check says that a file is sound, or what is wrong, with the exit status", async () => {
    const db = filled();
    const sound = await cli(["db", "check", "--db", db]);
    expect(sound).toMatchObject({ status: 0, err: "" });
    expect(sound.out).toMatch(
      /version 1, .*\ndata from 2026-01-01T00:00:00.000000Z to [^\n]+\nTABLE[\s\S]*gpu_sample +2000 [\s\S]*\nsound\n$/,
    );
    expect(JSON.parse((await cli(["db", "check", "--db", db, "--json"])).out)).toMatchObject({ version: 1, problems: [] });
    damage(db, "gpu_sample", 0.4, 0.5);
    const bad = await cli(["db", "check", "--db", db]);
    expect(bad).toMatchObject({ status: 1, err: expect.stringContaining("[DB_CORRUPT]") });
    expect(bad.out).toContain("problem: ");
    expect((JSON.parse((await cli(["db", "check", "--db", db, "--json"])).out) as { problems: string[] }).problems.length).toBeGreaterThan(
      0,
    );
  });

  test("repair saves what can be read", async () => {
    const db = filled();
    expect(await cli(["db", "repair", "--db", db])).toMatchObject({ status: 0, out: `${db} is sound: nothing to do\n` });
    damage(db, "gpu_sample", 0.4, 0.5);
    const done = await cli(["db", "repair", "--db", db, "--out", `${db}.saved`]);
    expect(done).toMatchObject({ status: 0, out: expect.stringMatching(/gpu_sample: \d+ rows saved, some are lost\n/) });
    expect(await cli(["db", "check", "--db", `${db}.saved`])).toMatchObject({ status: 0 });
    expect(await cli(["db", "repair", "--db", db, "--out", `${db}.saved`])).toMatchObject({
      status: 1,
      err: expect.stringContaining("is there already"),
    });
  });

  test("compact tells both sizes", async () => {
    const db = filled();
    expect(JSON.parse((await cli(["db", "compact", "--db", db, "--json"])).out)).toMatchObject({
      file: db,
      after_bytes: fs.statSync(db).size,
    });
    expect(await cli(["db", "compact", "--db", `${db}.none`])).toMatchObject({ status: 1, err: expect.stringContaining("[DB_OPEN]") });
  });

  test("export writes any table or view as CSV", async () => {
    const db = filled(2);
    const marks = await cli(["db", "export", "--csv", "mark", "--db", db]);
    expect(marks.out).toBe(`ts_us,node,kind,text,run\r\n${T0},n1,user,"a ""quoted"", two-line\ntext",\r\n`);
    const gpu = (await cli(["db", "export", "--csv", "gpu", "--db", db])).out.trimEnd().split("\r\n");
    expect(gpu).toHaveLength(3);
    expect(gpu[0]).toMatch(/^time,ts_us,node,uuid,source,run,epoch,/);
    expect(await cli(["db", "export", "--csv", "nope", "--db", db])).toMatchObject({
      status: 2,
      out: "",
      err: expect.stringContaining("gpu_sample"),
    });
    expect(await cli(["db", "export", "--db", db])).toMatchObject({ status: 2 });
  });
});
