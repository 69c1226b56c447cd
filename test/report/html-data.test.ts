import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { syntheticRun } from "../../bench/synthetic-run.js";
import type { EntityRef } from "../../schemas/samples.js";
import type { Track } from "../../schemas/telemetry.js";
import { entityNames } from "../../src/report/html/entity-name.js";
import { telemetryLanes } from "../../src/report/html/lane-lines.js";
import { LANE_SPECS } from "../../src/report/html/lane-specs.js";
import { ColumnPacker, type ColumnWidth, fromLogStep, toLogStep, unpack } from "../../src/report/html/payload-codec.js";
import { mergeSpans, reduceLine } from "../../src/report/html/reduce-line.js";
import { requestDots, worstGaps } from "../../src/report/html/request-dots.js";

describe("payload", () => {
  it("columns come back as they went in", () => {
    const column = fc.record({ width: fc.constantFrom<ColumnWidth>(1, 2, 4), delta: fc.boolean(), raw: fc.array(fc.nat(2 ** 31 - 1)) });
    fc.assert(
      fc.property(fc.array(column), fc.jsonValue(), (columns, data) => {
        const packer = new ColumnPacker();
        const values = columns.map(({ width, delta, raw }) => {
          const fitting = raw.map((v) => v % 2 ** Math.min(31, 8 * width));
          return delta ? fitting.sort((a, b) => a - b) : fitting;
        });
        const at = values.map((v, i) => packer.add(v, columns[i]!.width, columns[i]!.delta));
        const back = unpack(packer.pack(data));
        expect(back.data).toEqual(JSON.parse(JSON.stringify(data)));
        values.forEach((v, i) => expect([...back.column(at[i]!)]).toEqual(v));
      }),
    );
  });
  it("a latency keeps within 0.21 percent, and missing stays missing", () => {
    fc.assert(fc.property(fc.double({ min: 1e-3, max: 1e8, noNaN: true }), (ms) => Math.abs(fromLogStep(toLogStep(ms)) / ms - 1) < 0.0021));
    expect([toLogStep(Number.NaN), fromLogStep(0), toLogStep(0)]).toEqual([0, Number.NaN, 1]);
  });
});

const seriesOf = (at: readonly number[], value: readonly number[]) => ({
  n: at.length,
  from: Float64Array.from(at),
  to: Float64Array.from(at),
  value: Float64Array.from(value),
  momentary: true,
});

describe("reduced lines", () => {
  it("keep the extremes, the order, and every reading inside of an episode", () => {
    const reading = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(reading, { minLength: 30, maxLength: 400 }), fc.integer({ min: 4, max: 25 }), (values, most) => {
        const at = values.map((_, i) => 1000 * i);
        const range = { from_us: 0, to_us: at.at(-1)! };
        const span = { from_us: 5000, to_us: 5000 + 1000 * Math.floor(most / 2) };
        const line = reduceLine(seriesOf(at, values), most, range, [span]);
        expect(Math.max(...line.high)).toBe(Math.max(...values));
        expect(Math.min(...line.low)).toBe(Math.min(...values));
        expect([...line.at_us]).toEqual([...line.at_us].sort((a, b) => a - b));
        expect(line.at_us.length).toBeLessThanOrEqual(2 * most + 4);
        values.forEach((v, i) => {
          if (at[i]! < span.from_us || at[i]! > span.to_us) return;
          const k = line.at_us.indexOf(at[i]!);
          expect([line.low[k], line.high[k]]).toEqual([v, v]);
        });
      }),
    );
  });
  it("a gap stays a gap, and a short line is left as it is", () => {
    const line = reduceLine(seriesOf([0, 1, 2, 3, 20, 21], [1, 2, 3, 4, 5, 6]), 100, { from_us: 0, to_us: 30 }, []);
    expect(line.exact).toBe(true);
    expect([...line.high]).toEqual([1, 2, 3, 4, Number.NaN, 5, 6]);
    expect(reduceLine(seriesOf([], []), 10, { from_us: 0, to_us: 1 }, []).at_us).toHaveLength(0);
  });
  it("spans merge", () => {
    const span = (from_us: number, to_us: number) => ({ from_us, to_us });
    expect(mergeSpans([span(5, 9), span(0, 2), span(2, 3), span(6, 7)])).toEqual([span(0, 3), span(5, 9)]);
  });
});

describe("dots", () => {
  const { requests } = syntheticRun({ requests: 20_000, seconds: 600, gaps_per_request: 2, bursts: 2 });
  const gaps = worstGaps(requests);
  it("the worst gap is the largest", () => {
    for (const i of [0, 777, 19_999]) expect(gaps[i]).toBe(Math.max(requests.gap_ms[2 * i]!, requests.gap_ms[2 * i + 1]!));
  });
  it("too many are thinned, slow ones never", () => {
    const slow = Uint8Array.from({ length: requests.n }, (_, i) => (i % 50 === 0 ? 1 : 0));
    const all = requestDots(requests, gaps, slow);
    expect(all.row).toHaveLength(requests.n);
    expect(all.lanes.map((l) => l.id)).toEqual(["ttft", "gap"]);
    const few = requestDots(requests, gaps, slow, 9000);
    expect(few.row.length).toBeLessThanOrEqual(9000);
    const kept = new Set(few.row);
    for (let i = 0; i < requests.n; i += 50) expect(kept.has(i)).toBe(true);
    expect(few.lanes[0]!.max).toBe(Math.max(...requests.ttft_ms));
  });
});

describe("lanes", () => {
  const source = (name: string) => ({ name, node: "n", imported: true, interval_ms: null, window_ms: null, lag_ms: null, rejected: {} });
  const track = (name: string, entity: EntityRef, columns: Record<string, readonly number[]>): Track => {
    const n = Object.values(columns)[0]!.length;
    return {
      source: source(name),
      entity,
      ts_us: Float64Array.from({ length: n }, (_, i) => 1e6 * i),
      epoch: new Int32Array(n),
      columns: Object.fromEntries(Object.entries(columns).map(([c, v]) => [c, Float64Array.from(v)])),
    };
  };
  const gpu = (index: number): EntityRef => ({ kind: "gpu", node: "n", key: `GPU-${index}`, labels: { index: String(index) } });
  const host: EntityRef = { kind: "host", node: "n", key: "n", labels: {} };

  it("counters become rates, the finer source speaks, zero lanes stay away", () => {
    const lanes = telemetryLanes(
      [
        track("nvidia-smi", gpu(10), { gpu_util_ratio: [1, 1, 1], power_w: [100, 110] }),
        track("dcgm-exporter", gpu(10), { power_w: [100, 110, 120, 130], sm_active_ratio: [0.1, 0.2, 0.3, 0.4] }),
        track("dcgm-exporter", gpu(2), { power_w: [90, 91, 92, 93] }),
        track("node_exporter", host, {
          cpu_user_s_total: [0, 2, 4, 9],
          cpu_system_s_total: [0, 1, 2, 3],
          psi_cpu_some_s_total: [5, 5, 5, 5],
        }),
      ],
      LANE_SPECS,
    );
    expect(lanes.map((l) => l.spec.id)).toEqual(["sm", "power", "host"]);
    const power = lanes[1]!;
    expect(power.lines.map((l) => [l.name, l.source, l.series.n])).toEqual([
      ["GPU 2", "dcgm-exporter", 4],
      ["GPU 10", "dcgm-exporter", 4],
    ]);
    expect([...lanes[2]!.lines[0]!.series.value]).toEqual([3, 3, 6]);
  });
  it("without profiling counters the lane says what it shows instead", () => {
    const [lane] = telemetryLanes([track("nvidia-smi", gpu(0), { gpu_util_ratio: [1, 1, 0.5] })], LANE_SPECS);
    expect(lane?.spec.id).toBe("sm");
    expect(lane?.note).toContain("no profiling counter");
  });
  it("names are short and different", () => {
    const process = (key: string): EntityRef => ({ kind: "process", node: "n", key, labels: { role: "engine" } });
    const name = entityNames([gpu(0), process("proc:1:2"), process("proc:3:4"), host]);
    expect([name(gpu(0)), name(process("proc:1:2")), name(process("proc:3:4")), name(host)]).toEqual([
      "GPU 0",
      "engine proc:1:2",
      "engine proc:3:4",
      "n",
    ]);
    expect(entityNames([gpu(0), { ...gpu(0), node: "m" }])(gpu(0))).toBe("GPU 0 (n)");
  });
});
