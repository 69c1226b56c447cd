import fc from "fast-check";
import { expect, test } from "vitest";
import { checkRunName } from "../../src/store/run-name.js";
import { entity, open, request, SECOND, sample, source, T0, temporaryFile } from "./store-fixtures.js";

const row = (i: number): ReturnType<typeof sample> => sample(entity("host", "n1"), T0 + i * SECOND, { load1: i });

test("a run is there, with its range and facts, as soon as its first rows are, and not before", () => {
  const file = temporaryFile();
  const store = open(file);
  store.sink.manifest("r", { model: "m" });
  store.sink.rejected(source("s", "r"), "syntax", 2);
  store.sink.flush();
  expect(open(file, { mode: "read" }).runs.list()).toEqual([]);
  store.sink.requests(source("s", "r"), [{ ...request("a", T0 + 2 * SECOND), end_us: T0 + 9 * SECOND }]);
  store.sink.samples(source("t", "r"), [row(1)]);
  store.sink.samples(source("live"), [row(50)]);
  store.sink.flush();
  const seen = open(file, { mode: "read" });
  expect(seen.runs.get("r")).toMatchObject({ start_us: T0 + SECOND, end_us: T0 + 9 * SECOND, manifest: { model: "m" } });
  expect(seen.read.rejected({ run: "r" })).toMatchObject([{ reason: "syntax", count: 2 }]);
});

test("a run that is marked keeps its marks where that is asked", () => {
  const file = temporaryFile();
  const store = open(file, { keepRanges: true });
  store.runs.start("r", T0);
  store.runs.stop("r", T0 + SECOND);
  store.sink.samples(source("t", "r"), [row(-5), row(9)]);
  store.sink.flush();
  expect(store.runs.get("r")).toMatchObject({ start_us: T0, end_us: T0 + SECOND });
});

test("what was said of a run without rows is not kept", () => {
  const file = temporaryFile();
  const store = open(file);
  store.sink.manifest("r", { model: "m" });
  store.sink.rejected(source("s", "r"), "syntax", 2);
  store.close();
  const later = open(file);
  later.sink.samples(source("s", "r"), [row(1)]);
  later.sink.flush();
  expect(later.runs.get("r")!.manifest).toEqual({});
  expect(later.read.rejected({ run: "r" })).toEqual([]);
});

test("requests that are there already are counted, within a batch and across", () => {
  const file = temporaryFile();
  const store = open(file);
  const rows = [request("a", T0), request("b", T0), request("a", T0)];
  store.sink.requests(source("s", "r"), rows);
  store.sink.flush();
  expect(store.sink.repeated!()).toBe(1);
  store.sink.requests(source("s", "r"), rows);
  store.sink.requests(source("s", "other"), rows.slice(0, 1));
  store.sink.flush();
  expect(store.sink.repeated!()).toBe(4);
});

test("names that a command line or a file name cannot hold are refused", () => {
  const bad = ["", "  ", " a", "a ", "a/b", "a\\b", "a\nb", "a\u0085b", "-a", "x".repeat(201), "a\t"];
  for (const name of bad) expect(() => checkRunName(name), JSON.stringify(name)).toThrow(/^a run's name /);
  for (const name of ["a", "night 2", "ü", "before-upgrade", "v1.2:x", "x".repeat(200)]) checkRunName(name);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const fits = /^[^\p{Cc}/\\]+$/u.test(name) && name === name.trim() && !name.startsWith("-");
      if (fits) checkRunName(name);
      else expect(() => checkRunName(name)).toThrow(expect.objectContaining({ code: "USAGE" }));
    }),
  );
});
