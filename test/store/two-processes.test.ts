import { expect, test } from "vitest";
import { checkDatabase } from "../../src/store/check-database.js";
import { entity, open, SECOND, sample, source, T0, temporaryFile } from "./store-fixtures.js";

const all = { from_us: T0, to_us: T0 + 1000 * SECOND };
const row = (i: number): ReturnType<typeof sample> => sample(entity("host", "n1"), T0 + i * SECOND, { load1: i });

test("a reader sees what is committed while a writer goes on, and two writers do not lose each other's rows", () => {
  const file = temporaryFile();
  const agent = open(file, { flushIntervalMs: 3_600_000 });
  agent.sink.samples(source("agent"), [row(0)]);
  agent.sink.flush();
  const reader = open(file, { mode: "read" });
  const command = open(file);
  for (let i = 1; i < 20; i++) {
    agent.sink.samples(source("agent"), [row(i)]);
    command.sink.samples(source("import", "r"), [row(i)]);
    agent.sink.flush();
    command.sink.flush();
    command.runs.extend("r", T0, T0 + i * SECOND);
    expect(reader.read.telemetry(all).tracks[0]!.ts_us.length).toBe(i + 1);
    expect(reader.read.telemetry({ run: "r" }).tracks.map((t) => [t.source.name, t.ts_us.length])).toEqual([
      ["agent", i + 1],
      ["import", i],
    ]);
  }
  expect(checkDatabase(file).problems).toEqual([]);
});

test("two writers of one source keep its whole extent", () => {
  const file = temporaryFile();
  const [a, b] = [open(file), open(file)];
  for (const [store, i] of [
    [a, 5],
    [b, 9],
    [a, 6],
    [b, 1],
    [a, 7],
  ] as const) {
    store.sink.samples(source("s", "r"), [row(i)]);
    store.sink.flush();
  }
  expect(a.read.telemetry({ run: "r" }).tracks[0]!.columns.load1).toEqual(Float64Array.of(1, 5, 6, 7, 9));
});
