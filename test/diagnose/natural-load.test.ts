import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { noiseFrom, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();
const START = 1_790_000_000_000_000;

/** One prompt after another, at random times: about half of the server's time is prefill. `burst` multiplies arrivals from 60 to 70 s. */
const queueRun = (seed: number, burst: number, slower = 1): DiagnosisInput => {
  const input = syntheticRun({ seconds: 200, rate: 5, noise: 0.02 });
  const q = input.requests;
  const gauss = noiseFrom(seed);
  let t = 0;
  let free = 0;
  for (let i = 0; i < q.n; i++) {
    // A sum of six uniforms, minus 3, through the logistic function is close enough to uniform to draw a gap from.
    const u = 1 / (1 + Math.exp(-2.4 * gauss()));
    t += -Math.log(Math.max(1e-6, u)) / (t > 60 && t < 70 ? 5 * burst : 5);
    const service = (0.005 + 0.0001 * q.input_tokens[i]!) * (t > 120 && t < 130 ? slower : 1);
    free = Math.max(free, t) + service;
    const rest = (q.output_tokens[i]! - 1) * 0.01;
    q.sent_us[i] = START + Math.round(t * 1e6);
    q.first_token_us[i] = START + Math.round(free * 1e6);
    q.end_us[i] = START + Math.round((free + rest) * 1e6);
    q.ttft_ms[i] = (free - t) * 1000;
    q.e2e_ms[i] = (free - t + rest) * 1000;
  }
  return { ...input, telemetry: { ...input.telemetry, tracks: [] } };
};

describe("a busy server by itself", () => {
  it("requests that only meet each other as they always do are no incident", () => {
    for (const seed of [1, 2, 3, 4, 5]) expect(diagnose(queueRun(seed, 1), table).episodes.length, `seed ${seed}`).toBeLessThanOrEqual(1);
  });

  it("a burst of arrivals is one, and so is a server that became slower", () => {
    for (const seed of [1, 2, 3]) {
      const burst = diagnose(queueRun(seed, 4), table).episodes;
      expect(Math.max(...burst.map((e) => e.requests)), `seed ${seed}`).toBeGreaterThan(100);
      const slow = diagnose(queueRun(seed, 1, 4), table).episodes;
      expect(Math.max(...slow.map((e) => e.requests)), `seed ${seed}`).toBeGreaterThan(20);
    }
  });

  it("a broken limit is one however natural", () => {
    const input = queueRun(1, 1);
    expect(diagnose({ ...input, slo_ms: { ttft: 300 } }, table).episodes.length).toBeGreaterThan(0);
  });
});
