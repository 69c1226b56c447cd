import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { reportSchema, type VerdictClass } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();

describe("clear faults", () => {
  for (const [expected, options] of Object.entries(CLEAR)) {
    it(`answers ${expected}, with evidence that adds up`, () => {
      const report = diagnose(syntheticRun(options), table);
      expect(reportSchema.parse(report)).toEqual(report);
      const main = [...report.episodes].sort((a, b) => b.requests - a.requests)[0]!;
      expect([main.class, main.reason]).toEqual([expected, null]);
      expect(main.confidence).toBeGreaterThan(0.75);
      expect(main.confidence).toBeLessThanOrEqual(0.97);
      expect(main.remedy?.text).toBeTruthy();
      for (const e of report.episodes) {
        const sum = e.evidence.reduce((a, r) => a + r.weight_nats, e.prior_nats!);
        expect(sum).toBeCloseTo(e.score_nats!, 4);
        expect(Object.values(e.phases).reduce((a, b) => a + b!, 0)).toBeCloseTo(1, 2);
      }
      expect(report.summary.spikes.by_class[expected as VerdictClass]).toBeGreaterThan(100);
    });
  }

  it("names a wait outside of a calm node as the client's, not the CPU's", () => {
    const report = diagnose(syntheticRun({ faults: [{ from: 60, to: 80, ttft_ms: 800, waits: "outside" }] }), table);
    const main = report.episodes[0]!;
    expect([main.class, main.kind, main.cause, main.reason]).toEqual(["indeterminate", "other", "client-network", "CLIENT_SIDE"]);
    expect(main.confidence).toBeGreaterThan(0.5);
  });

  it("does not call a slow client the CPU's where the host cannot be seen", () => {
    const report = diagnose(
      syntheticRun({ faults: [{ from: 60, to: 80, ttft_ms: 800, waits: "outside" }], without: /^process|process_cpu/ }),
      table,
    );
    expect(report.episodes[0]!.class).toBe("indeterminate");
  });
});

describe("confounders", () => {
  const main = (options: Parameters<typeof syntheticRun>[0]) =>
    [...diagnose(syntheticRun(options), table).episodes].sort((a, b) => b.requests - a.requests)[0]!;

  it("a full cache without anyone waiting is healthy: a slow prefill beside it is compute", () => {
    const fault = CLEAR.compute!.faults![0]!;
    const e = main({ faults: [{ ...fault, waits: "prefill", levels: { ...fault.levels, kv_usage_ratio: 0.3 } }] });
    expect(e.class).toBe("compute");
  });

  it("requests that wait with the cache free are not kv", () => {
    const fault = CLEAR.kv_cache!.faults![0]!;
    expect(main({ faults: [{ ...fault, levels: { ...fault.levels, kv_usage_ratio: 0.4 } }] }).class).not.toBe("kv_cache");
  });

  it("a busy GPU that neither multiplies nor moves data is no communication on a single GPU", () => {
    const e = main({ faults: CLEAR.communication!.faults!, gpus: 1 });
    expect(e.class).not.toBe("communication");
    expect(e.runner_up?.class).not.toBe("communication");
  });

  it("a clock held down by heat is compute with cause thermal and driver degradation", () => {
    const fault = CLEAR.compute!.faults![0]!;
    const e = main({ faults: [{ ...fault, levels: { ...fault.levels, power_w: 300, sm_clock_mhz: 700, clocks_event_mask: 0x40 } }] });
    expect([e.class, e.cause, e.driver]).toEqual(["compute", "thermal", "degradation"]);
  });

  it("a clock held down by the power cap is named so", () => {
    const fault = CLEAR.compute!.faults![0]!;
    const e = main({ faults: [{ ...fault, levels: { ...fault.levels, sm_clock_mhz: 1300, clocks_event_mask: 0x4 } }] });
    expect([e.class, e.cause]).toEqual(["compute", "power-cap"]);
  });

  it("without server metrics a queue is withheld or capped, never a confident wrong answer", () => {
    const e = main({ ...CLEAR.kv_cache, without: /^server/ });
    expect(e.class).toBe("indeterminate");
  });

  it("nothing is answered above 0.60 without telemetry", () => {
    for (const options of Object.values(CLEAR))
      for (const e of diagnose(syntheticRun({ ...options, without: /./ }), table).episodes)
        expect(e.confidence ?? 0).toBeLessThanOrEqual(0.6);
  });
});
