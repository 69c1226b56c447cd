import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Track } from "../../schemas/index.js";
import { asOf, levelSeries, rateSeries, ratioSeries } from "../../src/core/interval-series.js";
import { measureRefresh } from "../../src/core/refresh.js";
import { integralOver, meanOver, stepFunction, sumOfBoxes, valueAt } from "../../src/core/step-function.js";
import { prefixSums, weightedMean, windowMean, windowMeans } from "../../src/core/window-mean.js";

const S = 1_000_000;

const track = (kind: "gpu" | "server" | "process", ts: number[], columns: Record<string, number[]>, epoch?: number[]): Track => ({
  source: { name: "s", node: "", imported: true, interval_ms: null, window_ms: null, lag_ms: null, rejected: {} },
  entity: { kind, node: "", key: "k", labels: {} },
  ts_us: Float64Array.from(ts),
  epoch: Int32Array.from(epoch ?? ts.map(() => 0)),
  columns: Object.fromEntries(Object.entries(columns).map(([name, v]) => [name, Float64Array.from(v)])),
});

const timing = (t: Track) => ({ refresh: measureRefresh(t), lag_us: 0, window_us: Number.NaN });

describe("interval series", () => {
  it("reads an averaged column as the mean since the previous refresh", () => {
    const t = track("gpu", [10 * S, 11 * S, 12 * S], { sm_active_ratio: [0.1, 0.2, 0.3] });
    const s = levelSeries(t, "sm_active_ratio", timing(t));
    expect([...s.from]).toEqual([9 * S, 10 * S, 11 * S]);
    expect([...s.to]).toEqual([10 * S, 11 * S, 12 * S]);
  });

  it("removes the lag, and does not stretch a reading over a gap", () => {
    const t = track(
      "gpu",
      [1, 2, 3, 4, 20].map((x) => x * S),
      { sm_active_ratio: [0.1, 0.2, 0.3, 0.4, 0.5] },
    );
    const s = levelSeries(t, "sm_active_ratio", { ...timing(t), lag_us: S / 2 });
    expect(s.to[4]).toBe(19.5 * S);
    expect(s.from[4]).toBe(18.5 * S);
  });

  it("drops repeats of a cached vector and measures the true refresh", () => {
    const ts = Array.from({ length: 40 }, (_, i) => i * S);
    const held = (f: (k: number) => number) => ts.map((_, i) => f(Math.floor(i / 5)));
    const t = track("gpu", ts, { sm_active_ratio: held((k) => 0.3 + k / 100), dram_active_ratio: held((k) => 0.5 + k / 90) });
    const refresh = measureRefresh(t);
    expect(refresh.refresh_us).toBe(5 * S);
    expect(levelSeries(t, "sm_active_ratio", timing(t)).n).toBe(8);
  });

  it("does not take a quiet counter or an idle GPU for a stale cache", () => {
    const ts = Array.from({ length: 20 }, (_, i) => i * S);
    const t = track("gpu", ts, { sm_active_ratio: ts.map(() => 0), dram_active_ratio: ts.map(() => 0) });
    expect(measureRefresh(t).repeated).toBeNull();
  });

  it("takes exact differences of counters and starts anew at resets and epochs", () => {
    const t = track(
      "server",
      [0, 1, 2, 3, 4].map((x) => x * S),
      { preemptions_total: [5, 7, 1, 2, 4] },
      [0, 0, 0, 0, 1],
    );
    const s = rateSeries(t, "preemptions_total", timing(t));
    expect([...s.value]).toEqual([2, 1]);
    expect([...s.from]).toEqual([0, 2 * S]);
  });

  it("skips missing readings: the counter's difference spans them", () => {
    const t = track(
      "process",
      [0, 1, 2].map((x) => x * S),
      { cfs_periods_total: [0, Number.NaN, 20], cfs_throttled_periods_total: [0, Number.NaN, 5] },
    );
    const over = rateSeries(t, "cfs_throttled_periods_total", timing(t));
    expect([...ratioSeries(over, rateSeries(t, "cfs_periods_total", timing(t))).value]).toEqual([0.25]);
    expect(asOf(over, 1.5 * S, S)).toBe(2.5);
    expect(asOf(over, 9 * S, S)).toBeNaN();
  });
});

const boxes = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 4 })), {
  minLength: 1,
  maxLength: 12,
});

describe("step functions", () => {
  it("agree with counting boxes at every instant and in every window", () => {
    fc.assert(
      fc.property(boxes, fc.integer({ min: -5, max: 90 }), fc.integer({ min: 1, max: 40 }), (list, at, length) => {
        const f = sumOfBoxes(
          list.map((b) => b[0]),
          list.map((b) => b[0] + b[1]),
          list.map((b) => b[2]),
        );
        const level = (t: number) => list.reduce((a, [s, d, w]) => a + (s <= t && t < s + d ? w : 0), 0);
        expect(valueAt(f, at)).toBe(level(at));
        let sum = 0;
        for (let t = at; t < at + length; t++) sum += level(t);
        expect(integralOver(f, at, at + length)).toBeCloseTo(sum, 6);
        expect(meanOver(f, at, at)).toBe(level(at));
      }),
    );
  });
});

describe("window means", () => {
  const readings = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 100 })), {
    minLength: 1,
    maxLength: 15,
  });
  const build = (list: [number, number, number][]) => {
    let t = 0;
    const from: number[] = [];
    const to: number[] = [];
    for (const [length, gap] of list) {
      from.push(t + gap);
      t += gap + length;
      to.push(t);
    }
    return {
      n: list.length,
      from: Float64Array.from(from),
      to: Float64Array.from(to),
      value: Float64Array.from(list, (r) => r[2]),
      momentary: false,
    };
  };

  it("agree with summing unit by unit, with coverage and dilution", () => {
    fc.assert(
      fc.property(readings, fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 40 }), (list, at, length) => {
        const s = build(list);
        let sum = 0;
        let covered = 0;
        const touched = new Set<number>();
        for (let t = at; t < at + length; t++)
          for (let i = 0; i < s.n; i++)
            if (s.from[i]! <= t && t < s.to[i]!) {
              sum += s.value[i]!;
              covered++;
              touched.add(i);
            }
        const got = windowMean(prefixSums(s), at, at + length);
        const unit = stepFunction(Float64Array.from([at, at + length]), Float64Array.from([1, 0]));
        const weighted = weightedMean(s, unit, unit);
        if (covered === 0) {
          expect(got.mean).toBeNaN();
          expect(weighted.readings).toBe(0);
          return;
        }
        const total = [...touched].reduce((a, i) => a + s.to[i]! - s.from[i]!, 0);
        expect(got.mean).toBeCloseTo(sum / covered, 6);
        expect(got.coverage).toBeCloseTo(covered / length, 9);
        expect(got.dilution).toBeCloseTo(covered / total, 9);
        expect(windowMeans([prefixSums(s)], [at], [at + length])[0]![0]).toBeCloseTo(sum / covered, 6);
        expect(weighted.mean).toBeCloseTo(sum / covered, 6);
        expect(weighted.readings).toBe(touched.size);
      }),
    );
  });

  it("in bulk are the same as one by one, in any order", () => {
    fc.assert(
      fc.property(
        readings,
        fc.array(fc.tuple(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 30 })), { maxLength: 12 }),
        (list, windows) => {
          const sums = prefixSums(build(list));
          const from = windows.map((w) => w[0]);
          const to = windows.map((w) => w[0] + w[1]);
          const means = windowMeans([sums, sums], from, to)[1]!;
          windows.forEach((_, i) => {
            const one = windowMean(sums, from[i]!, to[i]!).mean;
            if (Number.isNaN(one)) expect(means[i]).toBeNaN();
            else expect(means[i]).toBeCloseTo(one, 9);
          });
        },
      ),
    );
  });

  it("a heavier part of the window counts for more", () => {
    const s = build([
      [10, 0, 0],
      [10, 0, 100],
    ]);
    const weight = stepFunction(Float64Array.from([0, 10, 20]), Float64Array.from([1, 3, 0]));
    const support = stepFunction(Float64Array.from([0, 20]), Float64Array.from([1, 0]));
    expect(weightedMean(s, weight, support).mean).toBeCloseTo(75, 9);
  });
});
