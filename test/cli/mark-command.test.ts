import { expect, test } from "vitest";
import { parseIso } from "../../src/time/iso-time.js";
import { open, temporaryFile } from "../store/store-fixtures.js";
import { cli } from "./run-in-process.js";

test("mark annotates the time axis, of one run or of none", async () => {
  const db = temporaryFile();
  const first = JSON.parse((await cli(["mark", " replica 2 killed ", "--db", db, "--json"])).out) as {
    time: string;
    text: string;
    run: null;
  };
  expect(first).toMatchObject({ text: "replica 2 killed", run: null });
  await cli(["run", "start", "r", "--db", db]);
  expect(await cli(["mark", "load doubled", "--run", "r", "--db", db])).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^marked \S+Z: load doubled\n$/),
  });
  const { read } = open(db);
  const at = parseIso(first.time)!;
  expect(read.telemetry({ from_us: at, to_us: at }).marks).toMatchObject([{ ts_us: at, kind: "user", text: "replica 2 killed" }]);
  expect(read.telemetry({ run: "r" }).marks.map((m) => m.text)).toContain("load doubled");
});

test("mark refuses an unknown run and an empty text", async () => {
  const db = temporaryFile();
  await cli(["run", "start", "night", "--db", db]);
  expect(await cli(["mark", "x", "--run", "nigt", "--db", db])).toMatchObject({
    status: 1,
    err: expect.stringMatching(/did you mean `night`\? \[RUN_UNKNOWN\]\n$/),
  });
  expect(await cli(["mark", "  ", "--db", db])).toMatchObject({ status: 2, err: expect.stringContaining("a mark needs a text") });
  expect(open(db).read.telemetry({ run: "night" }).marks).toEqual([]);
});
