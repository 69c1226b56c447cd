import { describe, expect, it } from "vitest";
import type { Report, Spike, VerdictClass } from "../../schemas/report.js";
import { compareWithTruth, type LabTruth } from "../../src/cli/demo/compare-truth.js";
import { comparisonText } from "../../src/cli/demo/comparison-text.js";
import { planFaults } from "../../src/cli/demo/demo-plan.js";
import { FAULTS } from "../../src/sim/scenario.js";
import { cli } from "./run-in-process.js";

const spike = (request_id: string, cls: VerdictClass, metric: Spike["metric"] = "e2e", confidence: number | null = 0.9): Spike => ({
  request_id,
  metric,
  class: cls,
  confidence,
  start: "",
  end: "",
  observed_ms: 1,
  expected_ms: 1,
  excess_ms: 1,
  cause: null,
  episode: null,
  censored: false,
});
const report = (spikes: readonly Spike[]): Report => ({ spikes }) as unknown as Report;
const request = (request_id: string, spiked: boolean | null, fault: number | null) => ({
  request_id,
  spike: spiked,
  ttft: null,
  e2e: null,
  ttft_excess_ms: 0,
  e2e_excess_ms: 0,
  fault,
});
const fault = (kind: keyof typeof FAULTS) => ({ kind, ...FAULTS[kind], start_us: 1e6, end_us: 2e6 });
const truth: LabTruth = {
  faults: [fault("kv_full"), fault("link_degraded")],
  requests: [
    ...["a", "b", "c", "d"].map((id) => request(id, true, 0)),
    request("e", true, 1),
    request("q", false, null),
    request("r", false, null),
    request("n", null, null),
  ],
};

describe("report beside truth", () => {
  it("is right when half of the slow requests were found under the class that was injected", () => {
    const c = compareWithTruth(report([spike("a", "kv_cache"), spike("b", "kv_cache"), spike("e", "communication", "ttft", 0.8)]), truth);
    expect(c.all_right).toBe(true);
    expect(c.faults[0]).toMatchObject({ slow: 4, found: 2, named: "kv_cache", named_requests: 2, confidence: 0.9, right: true });
    expect(c.faults[1]).toMatchObject({ slow: 1, found: 1, named: "communication", confidence: 0.8, right: true });
    expect(c).toMatchObject({ quiet: 2, false_alarms: 0 });
  });

  it("is wrong when too few were found, when they have another class, and when nothing was slow", () => {
    const few = compareWithTruth(report([spike("a", "kv_cache"), spike("e", "communication")]), truth);
    expect(few.faults.map((f) => f.right)).toEqual([false, true]);
    const other = compareWithTruth(report(["a", "b", "c"].map((id) => spike(id, "compute"))), truth);
    expect(other.faults[0]).toMatchObject({ named: "compute", right: false });
    expect(other.faults[1]).toMatchObject({ named: null, confidence: null, right: false });
    expect(compareWithTruth(report([]), { faults: truth.faults, requests: [] }).all_right).toBe(false);
    expect(compareWithTruth(report([]), { faults: [], requests: [] }).all_right).toBe(false);
  });

  it("takes one verdict a request, by its end-to-end time first, and counts alarms on quiet ones", () => {
    const spikes = [
      spike("a", "compute", "itl"),
      spike("a", "kv_cache"),
      spike("b", "kv_cache"),
      spike("q", "compute", "ttft"),
      spike("r", "compute", "itl"),
    ];
    const c = compareWithTruth(report(spikes), truth);
    expect(c.faults[0]).toMatchObject({ found: 2, named: "kv_cache", named_requests: 2 });
    expect(c.false_alarms).toBe(1);
  });

  it("prints one row a fault and says how many are right", () => {
    const text = comparisonText(compareWithTruth(report([spike("e", "communication")]), truth), 0);
    expect(text).toMatch(/kv_cache\s+admission-blocked\s+1-2 s\s+4\s+0\s+nothing\s+-\s+WRONG/);
    expect(text).toMatch(/communication\s+link-saturated\s+1-2 s\s+1\s+1\s+communication\s+0\.90\s+right/);
    expect(text).toContain("1 of 2 faults named right");
  });
});

describe("the plan", () => {
  it.each([60, 90, 100, 600])("of %d s has one fault a class, none overlapping, in at most 30 %% of the time", (seconds) => {
    const faults = planFaults(seconds);
    expect(faults.map((f) => FAULTS[f.kind].class).sort()).toEqual([
      "bandwidth",
      "communication",
      "compute",
      "cpu_tokenization",
      "kv_cache",
    ]);
    for (const [i, f] of faults.entries()) {
      expect(f.in_s).toBeGreaterThan(i === 0 ? 0 : faults[i - 1]!.in_s + faults[i - 1]!.for_s + 5);
      expect(f.in_s + f.for_s).toBeLessThan(seconds - 5);
    }
    expect(faults.reduce((sum, f) => sum + f.for_s, 0)).toBeLessThanOrEqual(0.3 * seconds);
  });
});

describe("the command", () => {
  it.each(["5", "3600", "soon"])("refuses --seconds %s before it starts anything", async (seconds) => {
    const { status, out, err } = await cli(["demo", "--seconds", seconds]);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toContain("60 and 600");
  });
});
