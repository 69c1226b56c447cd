import { describe, expect, it } from "vitest";
import type { Spike, VerdictClass } from "../../../schemas/index.js";
import { addRun, figures, newTally } from "../../../src/cli/eval/tally.js";

const spike = (request_id: string, metric: Spike["metric"], cls: VerdictClass, confidence: number | null = 0.9): Spike => ({
  ...{ request_id, metric, class: cls, confidence, start: "", end: "", observed_ms: 1, expected_ms: 1, excess_ms: 1 },
  ...{ cause: null, episode: null, censored: false },
});
const slow = (request_id: string, ttft: VerdictClass[] | null, e2e: VerdictClass[] | null) => ({ request_id, spike: true, ttft, e2e });
const quiet = (request_id: string) => ({ request_id, spike: false, ttft: null, e2e: null });
const run = (requests: readonly (ReturnType<typeof slow> | ReturnType<typeof quiet>)[]) => ({ name: "r", family: "f", requests });

describe("tally of labelled runs", () => {
  it("holds a spike of the first token against the TTFT label and a later one against the E2E label", () => {
    const t = newTally();
    const counts = addRun(
      t,
      run([slow("a", ["kv_cache"], ["bandwidth"]), slow("b", ["kv_cache"], ["bandwidth"]), slow("c", null, ["bandwidth"])]),
      {
        spikes: [
          spike("a", "e2e", "bandwidth"),
          spike("a", "ttft", "kv_cache"),
          spike("b", "e2e", "kv_cache"),
          spike("c", "tpot", "bandwidth"),
        ],
      },
    );
    expect(counts).toMatchObject({ found: 3, missed: 0, right: 2, wrong: 1, abstained: 0 });
    expect(t.confusion).toEqual({ kv_cache: { kv_cache: 1 }, bandwidth: { kv_cache: 1, bandwidth: 1 } });
  });

  it("counts a missed spike against the class that is meant, an abstention as not right, and any accepted class as right", () => {
    const t = newTally();
    addRun(t, run([slow("a", ["compute", "kv_cache"], null), slow("b", ["compute"], null), slow("c", ["compute", "kv_cache"], null)]), {
      spikes: [spike("b", "ttft", "indeterminate", null), spike("c", "ttft", "compute")],
    });
    expect(t.perClass.kv_cache).toEqual({ tp: 0, fp: 0, fn: 1 });
    expect(t.perClass.compute).toEqual({ tp: 1, fp: 0, fn: 1 });
    expect(figures(t)).toMatchObject({ accuracy: 0.5, abstain: 0.5, accuracy_of_answers: 1 });
    expect(figures(t).recall).toBeCloseTo(2 / 3, 9);
  });

  it("counts false positives on quiet requests, but not a long gap alone", () => {
    const t = newTally();
    addRun(t, run([quiet("a"), quiet("b"), quiet("c")]), { spikes: [spike("a", "itl", "compute"), spike("b", "tpot", "compute")] });
    expect(t).toMatchObject({ quiet: 3, falsePositives: 1, found: 0 });
    expect(t.perClass.compute!.fp).toBe(0);
  });

  it("neither scores slow requests without a clear cause nor those in between", () => {
    const t = newTally();
    addRun(t, run([slow("a", null, null), { request_id: "b", spike: null as never, ttft: null, e2e: null }]), {
      spikes: [spike("a", "ttft", "compute")],
    });
    expect(t).toMatchObject({ found: 0, missed: 0, quiet: 0 });
  });

  it("counts everything as missed when a run failed", () => {
    const t = newTally();
    addRun(t, run([slow("a", ["compute"], null), quiet("b")]), null);
    expect(t).toMatchObject({ failed: 1, missed: 1, quiet: 1, falsePositives: 0 });
  });

  it("measures calibration as the mean distance of confidence and frequency", () => {
    const t = newTally();
    const requests = Array.from({ length: 10 }, (_, i) => slow(`r${i}`, ["compute"], null));
    addRun(t, run(requests), { spikes: requests.map((r, i) => spike(r.request_id, "ttft", i < 6 ? "compute" : "kv_cache", 0.85)) });
    expect(figures(t).ece).toBeCloseTo(0.25, 9);
    expect(figures(t).mean_confidence).toBeCloseTo(0.85, 9);
  });
});
