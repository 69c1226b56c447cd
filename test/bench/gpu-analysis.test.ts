import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { levelOf, levelsTable } from "../../bench/gpu/level-table.js";
import { type Mark, readRecording, type Series } from "../../bench/gpu/read-recording.js";
import { type Label, scoreRun } from "../../bench/gpu/score-run.js";
import { edgesOf, refreshMs, stepResponse } from "../../bench/gpu/step-response.js";
import type { Report, Spike } from "../../schemas/report.js";

const T0 = 1_790_000_000_000_000;
const mark = (name: string, start_s: number, end_s: number, more: Partial<Mark> = {}): Mark => ({
  kind: "regime",
  name,
  start_us: T0 + start_s * 1e6,
  end_us: T0 + end_s * 1e6,
  ran: true,
  ...more,
});

/** A sensor that shows the mean of the last `window_s`, `lag_s` late, refreshed every `refresh_s`, read every 100 ms. */
function sensor(marks: readonly Mark[], window_s: number, lag_s: number, refresh_s: number, noise = 0): Series {
  const load = (t: number): number => (marks.some((m) => t >= m.start_us && t < m.end_us) ? 500 : 100);
  const series: Series = { tool: "query", column: "power_w", ts_us: [], value: [] };
  for (let t = T0 - 2e6; t < T0 + 40e6; t += 100_000) {
    const end = Math.floor((t - T0) / (refresh_s * 1e6)) * refresh_s * 1e6 + T0 - lag_s * 1e6;
    let sum = 0;
    const parts = 50;
    for (let i = 0; i < parts; i++) sum += load(end - (i + 0.5) * ((window_s * 1e6) / parts));
    series.ts_us.push(t);
    series.value.push(sum / parts + noise * Math.sin(end / 77_777));
  }
  return series;
}

describe("step response of a sensor", () => {
  const marks = [mark("gemm", 3, 6), mark("copy", 9, 12), mark("spin_16", 15, 18), mark("tiny", 21, 24)];

  it("gives lag and averaging window back, to the resolution of the readings", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.3, max: 1.2, noNaN: true }), fc.double({ min: 0, max: 0.5, noNaN: true }), (window_s, lag_s) => {
        const found = stepResponse(sensor(marks, window_s, lag_s, 0.1, 3), edgesOf(marks));
        expect(found!.edges).toBe(8);
        expect(Math.abs(found!.window_ms - window_s * 1000)).toBeLessThan(150);
        expect(Math.abs(found!.lag_ms - lag_s * 1000)).toBeLessThan(130);
      }),
      { numRuns: 40, seed: 5 },
    );
  });

  it("says nothing where no step moved the column", () => {
    const flat = sensor([], 1, 0, 0.1, 3);
    expect(stepResponse(flat, edgesOf(marks))).toBeNull();
    expect(stepResponse({ ...flat, ts_us: [], value: [] }, edgesOf(marks))).toBeNull();
  });

  it("takes idle, resident and loads that did not run for no step", () => {
    const others = [mark("idle", 0, 2), mark("resident", 2, 3), mark("gemm", 3, 6, { ran: false }), mark("copy", 7, 9)];
    expect(edgesOf(others).map((e) => e.at_us)).toEqual([T0 + 7e6, T0 + 9e6]);
  });

  it("sees the refresh interval in the spacing of changes", () => {
    const slow = sensor(marks, 0.5, 0, 0.5, 40);
    expect(refreshMs(slow, marks)).toBeCloseTo(500, -1);
    expect(refreshMs(sensor(marks, 0.5, 0, 0.1, 0), [mark("gemm", 3.7, 6)])).toBeNull();
  });
});

describe("recording of the kit", () => {
  let folder: string;
  beforeAll(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-levels-"));
    fs.mkdirSync(path.join(folder, "raw"));
  });
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

  it("places rows by their own stamps when they arrive in bursts, and leaves what is no row out", () => {
    const head = "timestamp, index, uuid, utilization.gpu [%], power.draw [W]";
    const row = (ms: number, util: string) =>
      `2026/09/23 10:00:0${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, "0")}, 0, GPU-00000000-0000-4000-8000-000000000001, ${util}, 300.50`;
    // The second reading arrives with the third, 100 ms late; the last has lost its value, and one line its end.
    const lines = [
      [0, head],
      [1000, row(1000, "50")],
      [1200, row(1100, "60")],
      [1201, row(1200, "70")],
      [1300, "2026/09/23 10:00:01.3"],
      [1400, row(1400, "[N/A]")],
    ];
    const raw = lines.map(([ms, line]) => `${T0 + Number(ms) * 1000}\t${line}\r\n`).join("");
    fs.writeFileSync(path.join(folder, "raw/query.tsv"), `${raw}no time in front\n`);
    const dmon = [
      "#Date       Time        gpu    pwr     sm",
      "#YYYYMMDD   HH:MM:SS    Idx      W      %",
      " 20260923   10:00:01      0    301     55",
    ];
    fs.writeFileSync(path.join(folder, "raw/dmon.tsv"), dmon.map((line) => `${T0}\t${line}\n`).join(""));
    fs.writeFileSync(path.join(folder, "levels.jsonl"), `${JSON.stringify(mark("gemm", 1, 2))}\n`);
    const { marks, series } = readRecording(folder);
    expect(marks).toHaveLength(1);
    const util = series.find((s) => s.column === "gpu_util_ratio" && s.tool === "query")!;
    expect(util.ts_us.map((t) => (t - T0) / 1000)).toEqual([1000, 1100, 1200]);
    expect(util.value).toEqual([0.5, 0.6, 0.7]);
    expect(series.find((s) => s.column === "power_w" && s.tool === "query")!.value).toHaveLength(4);
    expect(series.find((s) => s.tool === "dmon" && s.column === "power_w")!.value).toEqual([301]);
  });

  it("reads a level where the load's own time begins, and says which loads did not run", () => {
    const marks = [mark("gemm", 3, 6, { achieved: 7.88e14, unit: "FLOP/s" }), mark("copy", 9, 12, { ran: false })];
    const power = sensor([marks[0]!], 1, 0, 0.1);
    expect(levelOf(power, marks[0]!)).toMatchObject({ p10: 500, p50: 500, p90: 500 });
    expect(levelOf(power, mark("later", 100, 103))).toBeNull();
    expect(levelsTable(marks, [power])).toBe(
      ["| load | reached | power W |", "| --- | --- | --- |", "| gemm | 788 TFLOP/s | 500 |", "| copy (did not run) |  | 100 |"].join("\n"),
    );
  });
});

describe("score of a run", () => {
  const spike = (request_id: string, metric: Spike["metric"], verdict: Spike["class"]) => ({ request_id, metric, class: verdict }) as Spike;
  const label = (request_id: string, more: Partial<Label>): Label => ({
    request_id,
    spike: true,
    ttft: null,
    e2e: null,
    fault: "kv_blocked",
    ...more,
  });

  it("counts right, wrong, missed and abstained by regime, and false alarms among the quiet", () => {
    const report: Pick<Report, "spikes"> = {
      spikes: [
        spike("a", "e2e", "compute"),
        spike("a", "ttft", "kv_cache"),
        spike("b", "ttft", "compute"),
        spike("c", "e2e", "indeterminate"),
        spike("q", "e2e", "compute"),
        spike("r", "itl", "compute"),
      ],
    };
    const requests = [
      label("a", { ttft: ["kv_cache"] }),
      label("b", { ttft: ["kv_cache"] }),
      label("c", { e2e: ["kv_cache"] }),
      label("d", { e2e: ["kv_cache"] }),
      label("e", {}),
      label("q", { spike: false }),
      label("r", { spike: false }),
      label("s", { spike: null }),
    ];
    const score = scoreRun(report, { faults: [{ name: "baseline" }, { name: "kv_blocked" }], requests });
    expect(score.regimes[1]).toEqual({
      name: "kv_blocked",
      spikes: 4,
      found: 3,
      right: 1,
      abstained: 1,
      wrong: { compute: 1 },
      missed: ["d"],
      accuracy: 0.25,
    });
    expect(score.regimes[0]!.accuracy).toBeNull();
    expect(score).toMatchObject({ accuracy: 0.25, quiet: 2, false_alarms: 1 });
  });
});
