import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../schemas/index.js";
import { integralOver, sumOfBoxes } from "../../src/core/step-function.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { lagOf } from "../../src/diagnose/measure-lag.js";
import { noiseFrom, syntheticRun } from "./synthetic-run.js";

const START = 1_790_000_000_000_000;
const gauss = noiseFrom(3);
const starts = Float64Array.from({ length: 300 }, (_, i) => START + i * 700e3 + gauss() * 200e3);
const ends = starts.map((t, i) => t + 60e3 + ((i * 37) % 11) * 30e3);
const activity = sumOfBoxes([...starts].sort(), [...ends].sort(), null);

/** Readings over windows, stamped `lag_us` late. */
const readings = (lag_us: number, window_us: number, noise: number) => {
  const ts = Float64Array.from({ length: Math.floor(200e6 / window_us) }, (_, i) => START + (i + 1) * window_us + lag_us);
  return { ts, values: ts.map((t) => integralOver(activity, t - lag_us - window_us, t - lag_us) / window_us + noise * gauss()) };
};

describe("the lag of a source", () => {
  it("is found to a step, under noise and for averages over seconds", () => {
    for (const lag of [-0.8e6, 0, 0.4e6, 1.3e6, 2.9e6])
      for (const window of [0.5e6, 1e6, 2e6]) {
        const { ts, values } = readings(lag, window, 0.03);
        const found = lagOf(ts, values, window, activity)!;
        expect(Math.abs(found.lag_us - lag), `${lag} at ${window}`).toBeLessThanOrEqual(150e3);
        expect(found.rho).toBeGreaterThan(0.7);
      }
  });

  it("is not guessed where nothing follows the load, or the load does not vary", () => {
    const { ts } = readings(0, 1e6, 0);
    const noise = ts.map(() => gauss());
    expect(lagOf(ts, noise, 1e6, activity)).toBeNull();
    const flat = sumOfBoxes([START - 1e9], [START + 1e9], null);
    expect(lagOf(ts, noise, 1e6, flat)).toBeNull();
    expect(lagOf(ts.slice(0, 10), noise.slice(0, 10), 1e6, activity)).toBeNull();
  });

  it("is used where the source states none, and printed with its correlation", () => {
    const input = syntheticRun({ rate: 0.5, seconds: 240 });
    const { requests } = input;
    const busy = sumOfBoxes(requests.sent_us, requests.end_us, null);
    const late = (lag_ms: number | null): DiagnosisInput => ({
      ...input,
      telemetry: {
        ...input.telemetry,
        tracks: input.telemetry.tracks.map((t) =>
          t.entity.kind !== "gpu"
            ? t
            : {
                ...t,
                source: { ...t.source, lag_ms },
                columns: { ...t.columns, tensor_active_ratio: t.ts_us.map((s) => integralOver(busy, s - 2.4e6, s - 1.4e6) / 1e6) },
              },
        ),
      },
    });
    const row = (lag_ms: number | null) =>
      diagnose(late(lag_ms), defaultDecisionTable()).data.sources.find((s) => s.entity_kind === "gpu")!;
    expect(row(null).lag_ms).toBe(1400);
    expect(row(null).lag_rho).toBeGreaterThan(0.9);
    expect(row(200)).toMatchObject({ lag_ms: 200 });
    expect(row(200).lag_rho).toBeUndefined();
  });
});
