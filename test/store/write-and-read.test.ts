import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COLUMNS, ENTITY_KINDS, type EntityKind } from "../../schemas/columns/index.js";
import type { Sample } from "../../schemas/samples.js";
import { entity, open, request, SECOND, sample, source, T0, temporaryFile } from "./store-fixtures.js";

const everything = { from_us: T0 - 3600 * SECOND, to_us: T0 + 3600 * SECOND };
const gpu = entity("gpu", "GPU-1");

describe("samples", () => {
  test("come back as columns in the order of time, missing as NaN", () => {
    const store = open(temporaryFile());
    store.sink.samples(source("dcgm-exporter"), [
      sample(gpu, T0 + SECOND, { power_w: 300.25, sm_clock_mhz: 1980 }, 1),
      sample(gpu, T0, { power_w: 299.5 }),
      sample(entity("gpu", "GPU-0"), T0, { temp_c: 40 }),
    ]);
    store.sink.flush();
    const { tracks } = store.read.telemetry(everything);
    expect(tracks.map((t) => t.entity.key)).toEqual(["GPU-0", "GPU-1"]);
    expect(tracks[1]!.ts_us).toEqual(Float64Array.of(T0, T0 + SECOND));
    expect(tracks[1]!.epoch).toEqual(Int32Array.of(0, 1));
    expect(tracks[1]!.columns).toEqual({ power_w: Float64Array.of(299.5, 300.25), sm_clock_mhz: Float64Array.of(Number.NaN, 1980) });
    expect(tracks[1]!.source).toEqual({
      name: "dcgm-exporter",
      node: "n1",
      imported: false,
      interval_ms: 1000,
      window_ms: null,
      lag_ms: null,
      rejected: {},
    });
  });

  test("of one instant add up: later values win, none is lost, in one batch or in several", () => {
    const store = open(temporaryFile());
    const src = source("s");
    store.sink.samples(src, [sample(gpu, T0, { power_w: 1, temp_c: 50 }), sample(gpu, T0, { power_w: 2 })]);
    store.sink.flush();
    store.sink.samples(src, [sample(gpu, T0, { xid: 79 }), sample(gpu, T0, { temp_c: 51 })]);
    store.sink.flush();
    const [track] = store.read.telemetry(everything).tracks;
    expect(track!.columns).toEqual({ power_w: Float64Array.of(2), temp_c: Float64Array.of(51), xid: Float64Array.of(79) });
  });

  test("that cannot be stored are counted by reason and leave their neighbours alone", () => {
    const store = open(temporaryFile());
    store.sink.samples(source("s"), [
      sample(gpu, Number.NaN, { power_w: 1 }),
      sample(gpu, T0 + 0.5, { power_w: 1 }),
      sample(gpu, T0, { power_w: 7, temp_c: Number.POSITIVE_INFINITY, nonsense: 1, fb_used_bytes: Number.NaN }),
    ]);
    store.sink.flush();
    const [track] = store.read.telemetry(everything).tracks;
    expect(track!.columns).toEqual({ power_w: Float64Array.of(7) });
    expect(track!.source.rejected).toEqual({ time: 2, not_finite: 1, unknown_column: 1 });
  });

  test("any samples come back equal", () => {
    const value = fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0);
    const anySample = fc.constantFrom(...ENTITY_KINDS).chain((kind) =>
      fc.record({
        kind: fc.constant(kind),
        key: fc.constantFrom("a", "b", "c"),
        src: fc.constantFrom("one", "two"),
        at: fc.integer({ min: 0, max: 20 }),
        epoch: fc.integer({ min: 0, max: 3 }),
        values: fc.dictionary(fc.constantFrom(...COLUMNS[kind].map((c) => c.name)), value, {
          minKeys: 1,
          maxKeys: 6,
          noNullPrototype: true,
        }),
      }),
    );
    fc.assert(
      fc.property(fc.array(anySample, { maxLength: 120 }), fc.integer({ min: 1, max: 50 }), (rows, cut) => {
        const store = open(temporaryFile(), { flushRows: 40 });
        const expected = new Map<string, { epoch: number; values: Record<string, number> }>();
        for (const [i, row] of rows.entries()) {
          const id = [row.kind, row.key, row.src, T0 + row.at].join("|");
          const known = expected.get(id);
          expected.set(id, { epoch: row.epoch, values: { ...known?.values, ...row.values } });
          const one: Sample = sample(entity(row.kind as EntityKind, row.key), T0 + row.at, row.values, row.epoch);
          store.sink.samples(source(row.src), [one]);
          if (i % cut === 0) store.sink.flush();
        }
        store.sink.flush();
        const found = new Map<string, { epoch: number; values: Record<string, number> }>();
        for (const t of store.read.telemetry(everything).tracks) {
          for (let i = 0; i < t.ts_us.length; i++) {
            if (i > 0) expect(t.ts_us[i]!).toBeGreaterThan(t.ts_us[i - 1]!);
            const values = Object.entries(t.columns).flatMap(([n, c]) => (Number.isNaN(c[i]) ? [] : [[n, c[i]!] as const]));
            found.set([t.entity.kind, t.entity.key, t.source.name, t.ts_us[i]].join("|"), {
              epoch: t.epoch[i]!,
              values: Object.fromEntries(values),
            });
          }
        }
        store.close();
        expect(found).toEqual(expected);
      }),
      { numRuns: 40, seed: 7 },
    );
  });
});

describe("requests", () => {
  test("come back as they were written, with gaps, by start", () => {
    const store = open(temporaryFile());
    const full = request("r2", T0 + SECOND, {
      view: "client",
      server: { url: "http://h:8000", model: "m" },
      model: "m",
      scheduled_us: T0 + 999_999,
      first_token_us: T0 + 1_500_000,
      ttft_ms: 500.125,
      gaps_ms: Float32Array.of(12.5, 0.1, 33),
      input_tokens: 100,
      output_tokens: 4,
      warmup: true,
      turn_index: 2,
      route: "w1",
      error: "boom",
      status: "error",
    });
    store.sink.requests(source("otlp"), [full, request("r1", T0, { end_us: null, status: "open" })]);
    store.sink.flush();
    expect(store.read.requestViews(everything)).toEqual([request("r1", T0, { end_us: null, status: "open" }), full]);
  });

  test("that come twice are one, and a later export completes an earlier one", () => {
    const store = open(temporaryFile());
    const src = source("otlp");
    store.sink.requests(src, [request("a", T0, { end_us: null, status: "open", ttft_ms: 5 }), request("a", T0, { queue_ms: 2 })]);
    store.sink.flush();
    store.sink.requests(src, [
      request("b", T0, { span_key: "t/s" }),
      request("b", T0, { span_key: "t/s" }),
      request("b", T0, { span_key: "t/z" }),
    ]);
    store.sink.requests(src, [request("b", T0 + 1, { span_key: "t/s", output_tokens: 9 })]);
    store.sink.flush();
    const views = store.read.requestViews(everything);
    expect(views.map((v) => [v.request_id, v.span_key, v.status, v.ttft_ms, v.queue_ms, v.output_tokens])).toEqual([
      ["a", "", "ok", 5, 2, null],
      ["b", "t/s", "ok", null, null, 9],
      ["b", "t/z", "ok", null, null, null],
    ]);
  });
});

describe("histograms", () => {
  test("are put together from their buckets", () => {
    const store = open(temporaryFile());
    const server = entity("server", "vllm:h/0");
    const row = (le: string, ts: number, value: number, metric = "vllm:ttft_seconds_bucket") =>
      ({ entity: server, metric, labels: { le }, type: "counter", ts_us: ts, epoch: 0, value }) as const;
    store.sink.series(source("vllm"), [
      row("+Inf", T0, 9),
      row("0.5", T0, 4),
      row("10", T0, 8),
      row("0.5", T0 + SECOND, 5),
      row("+Inf", T0 + SECOND, 11),
    ]);
    store.sink.series(source("vllm"), [row("1", T0, 1, "vllm:tokens_bucket"), row("x", T0, 1)]);
    store.sink.flush();
    const { histograms } = store.read.telemetry(everything);
    expect(histograms).toHaveLength(1);
    expect(histograms[0]!.metric).toBe("vllm:ttft_seconds");
    expect(histograms[0]!.bounds).toEqual(Float64Array.of(0.5, 10, Number.POSITIVE_INFINITY));
    expect(histograms[0]!.ts_us).toEqual(Float64Array.of(T0, T0 + SECOND));
    expect(histograms[0]!.counts).toEqual(Float64Array.of(4, 8, 9, 5, Number.NaN, 11));
  });
});
