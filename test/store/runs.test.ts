import { describe, expect, test } from "vitest";
import { nearestNames } from "../../src/store/nearest-names.js";
import { entity, open, SECOND, sample, source, T0, temporaryFile } from "./store-fixtures.js";

describe("runs", () => {
  test("are made, listed by start, and kept over reopening", () => {
    const file = temporaryFile();
    const first = open(file);
    expect(first.runs.create("b")).toEqual({ id: "b", start_us: null, end_us: null, created_us: T0, manifest: {} });
    expect(first.runs.get("nope")).toBeNull();
    first.runs.start("z", T0);
    first.runs.start("a", T0 + SECOND);
    first.runs.create("a");
    first.close();
    expect(
      open(file, { mode: "read" })
        .runs.list()
        .map((r) => [r.id, r.start_us]),
    ).toEqual([
      ["z", T0],
      ["a", T0 + SECOND],
      ["b", null],
    ]);
  });

  test("start and stop once", () => {
    const { runs } = open(temporaryFile());
    expect(() => runs.stop("r", T0)).toThrow(/there is no run "r"/);
    runs.create("r");
    expect(() => runs.stop("r", T0)).toThrow(/never started/);
    expect(runs.start("r", T0)).toMatchObject({ start_us: T0, end_us: null });
    expect(() => runs.start("r", T0)).toThrow(/started already/);
    expect(runs.stop("r", T0 + SECOND)).toMatchObject({ start_us: T0, end_us: T0 + SECOND });
    expect(() => runs.stop("r", T0)).toThrow(/ended already/);
  });

  test("widen with each import", () => {
    const { runs } = open(temporaryFile());
    runs.extend("r", T0, T0 + 10);
    runs.extend("r", T0 + 5, T0 + 20);
    expect(runs.extend("r", T0 - 3.2, T0)).toMatchObject({ start_us: T0 - 3, end_us: T0 + 20 });
  });

  test.each(["", "  ", "a\nb", "x".repeat(201)])("refuse the name %j", (name) => {
    const { runs } = open(temporaryFile());
    expect(() => runs.create(name)).toThrow(/a run's name/);
  });

  test("freeze what the agent knows when they start and end, and keep their own facts", () => {
    const store = open(temporaryFile());
    store.sink.manifest(null, { driver_version: "570.1", engine: "vllm" });
    store.sink.flush();
    store.runs.start("r", T0);
    store.sink.manifest(null, { driver_version: "580.2", cuda_version: "12.8" });
    store.sink.manifest("r", { model: "m" });
    store.sink.flush();
    store.runs.stop("r", T0 + SECOND);
    store.runs.mergeManifest("r", { model: "m2" });
    expect(store.runs.get("r")!.manifest).toEqual({ cuda_version: "12.8", driver_version: "570.1", engine: "vllm", model: "m2" });
    expect(store.runs.create("imported").manifest).toEqual({});
  });

  test("are made by the rows that name them, not by facts alone", () => {
    const store = open(temporaryFile());
    store.sink.samples(source("s", "by-row"), [sample(entity("host", "n"), T0, { load1: 1 })]);
    store.sink.manifest("by-fact", { model: "m" });
    store.sink.flush();
    expect(store.runs.list().map((r) => r.id)).toEqual(["by-row"]);
  });

  test("that are unknown are answered with the nearest names", () => {
    const { runs, read } = open(temporaryFile());
    const failure = (id: string): { code: string; mend: string | null } => {
      try {
        runs.require(id);
      } catch (error) {
        return error as { code: string; mend: string };
      }
      throw new Error("found");
    };
    expect(failure("x")).toMatchObject({ code: "RUN_UNKNOWN", mend: expect.stringContaining("no runs yet") });
    for (const id of ["baseline-1", "baseline-2", "night"]) runs.create(id);
    expect(failure("baselin-1")).toMatchObject({ mend: "did you mean `baseline-1` or `baseline-2`?" });
    expect(failure("qqqqqqqq")).toMatchObject({ mend: expect.stringContaining("run list") });
    expect(() => read.telemetry({ run: "nihgt" })).toThrow(/no run "nihgt"/);
  });
});

test("nearest names", () => {
  expect(nearestNames("before", ["after", "before-upgrade", "BEFOR", "zzz"])).toEqual(["BEFOR", "before-upgrade"]);
  expect(nearestNames("a", [])).toEqual([]);
});
