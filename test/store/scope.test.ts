import { describe, expect, test } from "vitest";
import type { Selection, Store } from "../../src/store/open-store.js";
import { entity, open, request, SECOND, sample, source, T0, temporaryFile } from "./store-fixtures.js";

const MINUTE = 60 * SECOND;
const gpu = (node: string): ReturnType<typeof entity> => entity("gpu", "GPU-1", {}, node);
const seen = (store: Store, selection: Selection): string[] =>
  store.read
    .telemetry(selection)
    .tracks.map((t) => `${t.source.name}/${t.source.node}/${t.source.imported ? "import" : "live"}:${t.ts_us.length}`);
const ids = (store: Store, selection: Selection): string[] => store.read.requestViews(selection).map((v) => v.request_id);

describe("what a run sees", () => {
  test("is its own imports, never another run's, whatever the times and keys", () => {
    const store = open(temporaryFile());
    for (const [run, power] of [
      ["one", 100],
      ["two", 200],
    ] as const) {
      store.sink.samples(source("dcgm", run), [
        sample(gpu("n1"), T0, { power_w: power }),
        sample(gpu("n1"), T0 + SECOND, { power_w: power }),
      ]);
      store.sink.requests(source("aiperf", run), [request(`r-${run}`, T0, { span_key: "same/span" })]);
      store.sink.rejected(source("dcgm", run), "syntax", power);
      store.sink.marks([{ ts_us: T0, node: "n1", kind: "xid", text: run }], run);
      store.sink.flush();
      store.runs.extend(run, T0, T0 + SECOND);
    }
    for (const [run, power] of [
      ["one", 100],
      ["two", 200],
    ] as const) {
      const { tracks, marks } = store.read.telemetry({ run });
      expect(tracks).toHaveLength(1);
      expect(tracks[0]!.columns.power_w).toEqual(Float64Array.of(power, power));
      expect(tracks[0]!.source.rejected).toEqual({ syntax: power });
      expect(marks.map((m) => m.text)).toEqual([run]);
      expect(ids(store, { run })).toEqual([`r-${run}`]);
      expect(store.read.rejected({ run })).toEqual([{ source: "dcgm", node: "n1", reason: "syntax", count: power }]);
      expect(store.read.range({ run })).toEqual({ start_us: T0, end_us: T0 + SECOND });
    }
    expect(seen(store, { from_us: T0, to_us: T0 + SECOND })).toEqual([]);
    expect(ids(store, { from_us: T0, to_us: T0 + 9 * SECOND })).toEqual([]);
  });

  test("and live sources of the same nodes, from 60 s before to 60 s after", () => {
    const store = open(temporaryFile());
    const times = [-61, -60, 0, 30, 70, 71].map((s) => T0 + s * SECOND);
    for (const node of ["n1", "n2"]) {
      store.sink.samples(
        source("live", null, node),
        times.map((ts) => sample(gpu(node), ts, { power_w: 1 })),
      );
    }
    store.sink.samples(source("dcgm", "r"), [sample(gpu("n1"), T0, { power_w: 1 }), sample(gpu("n1"), T0 + 10 * SECOND, { power_w: 1 })]);
    store.sink.flush();
    expect(seen(store, { run: "r" })).toEqual(["dcgm/n1/import:2", "live/n1/live:4"]);
  });

  test("and live sources of all nodes when no import names a node", () => {
    const store = open(temporaryFile());
    for (const node of ["n1", "n2"]) store.sink.samples(source("live", null, node), [sample(gpu(node), T0, { power_w: 1 })]);
    store.sink.requests(source("aiperf", "r", ""), [request("a", T0)]);
    store.sink.flush();
    store.runs.extend("r", T0, T0 + SECOND);
    expect(seen(store, { run: "r" })).toEqual(["live/n1/live:1", "live/n2/live:1"]);
    // The node may be the entity's alone.
    store.sink.samples(source("om", "r", ""), [sample(entity("host", "n2", {}, "n2"), T0, { load1: 1 })]);
    store.sink.flush();
    expect(seen(store, { run: "r" })).toEqual(["live/n2/live:1", "om//import:1"]);
  });

  test("and live requests that ended inside it or are open since, however long they took", () => {
    const store = open(temporaryFile());
    const end = T0 + MINUTE;
    store.sink.requests(source("otlp"), [
      request("long", T0 - 600 * SECOND, { end_us: T0 + 1 }),
      request("early", T0 - 2 * SECOND, { end_us: T0 - 1 }),
      request("inside", T0 + SECOND, { end_us: end }),
      request("late", T0 + SECOND, { end_us: end + 1 }),
      request("open", T0 + SECOND, { end_us: null, status: "open" }),
      request("old-open", T0 - SECOND, { end_us: null, status: "open" }),
    ]);
    store.sink.flush();
    store.runs.extend("r", T0, end);
    expect(ids(store, { run: "r" })).toEqual(["long", "inside", "open"]);
    expect(ids(store, { from_us: T0, to_us: end })).toEqual(["long", "inside", "open"]);
  });

  test("has a range from its imports when it was never marked, up to now while it is open, else none", () => {
    const store = open(temporaryFile(), { wallUs: () => T0 + MINUTE });
    store.sink.samples(source("dcgm", "r"), [sample(gpu("n1"), T0, { power_w: 1 }), sample(gpu("n1"), T0 + SECOND, { power_w: 1 })]);
    store.sink.flush();
    expect(store.read.range({ run: "r" })).toEqual({ start_us: T0, end_us: T0 + SECOND });
    store.runs.start("live", T0 + 5);
    expect(store.read.range({ run: "live" })).toEqual({ start_us: T0 + 5, end_us: T0 + MINUTE });
    store.runs.create("empty");
    expect(store.read.range({ run: "empty" })).toBeNull();
    expect(store.read.telemetry({ run: "empty" })).toEqual({ tracks: [], histograms: [], marks: [] });
    expect(store.read.requestViews({ run: "empty" })).toEqual([]);
  });
});

describe("what an interval sees", () => {
  test("is the live agent's data in its bounds, both ends included, and the marks of no run", () => {
    const store = open(temporaryFile());
    store.sink.samples(
      source("live"),
      [-1, 0, 5, 10, 11].map((us) => sample(gpu("n1"), T0 + us, { power_w: 1 })),
    );
    for (const us of [-1, 0, 10, 11]) store.sink.marks([{ ts_us: T0 + us, node: "n1", kind: "user", text: `m${us}` }]);
    store.sink.marks([{ ts_us: T0, node: "n1", kind: "user", text: "of a run" }], "r");
    store.sink.flush();
    const range = { from_us: T0, to_us: T0 + 10 };
    expect(seen(store, range)).toEqual(["live/n1/live:3"]);
    expect(store.read.telemetry(range).marks.map((m) => m.text)).toEqual(["m0", "m10"]);
    expect(store.read.range(range)).toEqual({ start_us: T0, end_us: T0 + 10 });
  });
});

describe("labels", () => {
  test("of a live entity are those that were true at the end of the range", () => {
    const store = open(temporaryFile());
    const at = (seconds: number, labels: Record<string, string>): void =>
      store.sink.samples(source("dcgm"), [sample(entity("gpu", "G", labels), T0 + seconds * SECOND, { power_w: 1 })]);
    at(0, { index: "0", pod: "a" });
    at(10, { index: "0" });
    store.sink.flush();
    at(20, { index: "0", pod: "b" });
    at(21, { pod: "b", index: "0" });
    store.sink.flush();
    const labels = (to: number): unknown => store.read.telemetry({ from_us: T0, to_us: T0 + to * SECOND }).tracks[0]!.entity.labels;
    expect([labels(5), labels(15), labels(25)]).toEqual([{ index: "0", pod: "a" }, { index: "0" }, { index: "0", pod: "b" }]);
  });

  test("of an imported entity add up, and other sources' labels fill what a source does not know", () => {
    const store = open(temporaryFile());
    const at = (name: string, seconds: number, labels: Record<string, string>): void =>
      store.sink.samples(source(name, "r"), [sample(entity("gpu", "G", labels), T0 + seconds * SECOND, { power_w: 1 })]);
    at("dcgm", 0, { pod: "a", model: "H100" });
    at("dcgm", 1, { index: "3" });
    at("smi", 1, { model: "NVIDIA H100", uuid: "G" });
    store.sink.flush();
    store.runs.extend("r", T0, T0 + SECOND);
    expect(store.read.telemetry({ run: "r" }).tracks.map((t) => [t.source.name, t.entity.labels])).toEqual([
      ["dcgm", { pod: "a", model: "H100", index: "3", uuid: "G" }],
      ["smi", { pod: "a", model: "NVIDIA H100", index: "3", uuid: "G" }],
    ]);
  });
});

describe("refused rows", () => {
  const importFile = (file: string, db: string, count: number, reopen: boolean, store?: Store): Store => {
    const target = reopen || !store ? open(db) : store;
    target.runs.create("r");
    target.sink.origin(file);
    target.sink.rejected(source("dcgm", "r"), "syntax", count - 1);
    target.sink.flush();
    target.sink.rejected(source("dcgm", "r"), "syntax", 1);
    target.sink.flush();
    return target;
  };
  const total = (store: Store): number => store.read.rejected({ run: "r" }).reduce((sum, r) => sum + r.count, 0);

  test.each([true, false])("of an import are counted once, however often the file is imported (reopened: %s)", (reopen) => {
    const db = temporaryFile();
    let store = importFile("a.jsonl", db, 5, true);
    store = importFile("b.jsonl", db, 3, reopen, store);
    expect(total(store)).toBe(8);
    store = importFile("a.jsonl", db, 5, reopen, store);
    expect(total(store)).toBe(8);
  });

  test("of live sources add up", () => {
    const store = open(temporaryFile());
    for (let i = 0; i < 3; i++) {
      store.sink.rejected(source("smi"), "sentinel", 2);
      store.sink.rejected(source("smi"), "syntax", 1);
      if (i > 0) store.sink.flush();
    }
    expect(store.read.rejected({ from_us: T0, to_us: T0 })).toEqual([
      { source: "smi", node: "n1", reason: "sentinel", count: 6 },
      { source: "smi", node: "n1", reason: "syntax", count: 3 },
    ]);
  });
});

test("importing the same file twice changes nothing", () => {
  const file = temporaryFile();
  const dump = (store: Store): unknown => [
    store.read.telemetry({ run: "r" }),
    store.read.requestViews({ run: "r" }),
    store.read.rejected({ run: "r" }),
    store.runs.list(),
  ];
  const once = (): Store => {
    const store = open(file);
    store.sink.origin("f");
    store.sink.samples(source("dcgm", "r"), [
      sample(entity("gpu", "G", { pod: "a" }), T0, { power_w: 1 }),
      sample(gpu("n1"), T0, { temp_c: 3 }),
    ]);
    store.sink.requests(source("aiperf", "r"), [
      request("a", T0, { gaps_ms: Float32Array.of(1, 2) }),
      request("b", T0, { span_key: "t/s" }),
    ]);
    store.sink.rejected(source("aiperf", "r"), "truncated", 1);
    store.sink.flush();
    store.runs.extend("r", T0, T0 + SECOND);
    return store;
  };
  const first = dump(once());
  expect(dump(once())).toEqual(first);
});
