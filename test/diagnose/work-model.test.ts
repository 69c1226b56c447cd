import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { reportSchema } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { fitWorkModel } from "../../src/diagnose/work-model.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();
const throughout = (c: string) => syntheticRun({ ...CLEAR[c]!, faults: CLEAR[c]!.faults!.map((f) => ({ ...f, from: 0, to: 1000 })) });
const clean = (c: string) => fitWorkModel(syntheticRun({ ...CLEAR[c]!, faults: [] }), table);

describe("a run judged against another", () => {
  it("shows what is slow throughout, and why, where alone it shows nothing", () => {
    for (const c of ["bandwidth", "communication", "cpu_tokenization"]) {
      const input = throughout(c);
      expect(diagnose(input, table).episodes.length, c).toBeLessThanOrEqual(1);
      const report = diagnose({ ...input, baseline: clean(c) }, table);
      expect(reportSchema.parse(report)).toEqual(report);
      const main = [...report.episodes].sort((a, b) => b.requests - a.requests)[0]!;
      expect([main.class, main.level_shift], c).toEqual([c, true]);
      expect(main.requests, c).toBeGreaterThan(600);
      expect(report.summary.bottleneck.class, c).toBe(c);
      expect(report.data.baseline).toBe("synthetic");
    }
  });

  it("stays quiet where it is as fast as the other", () => {
    const report = diagnose({ ...syntheticRun(), baseline: clean("compute") }, table);
    expect(report.episodes).toEqual([]);
  });

  it("is fitted on the undisturbed part, and survives JSON", () => {
    const whole = clean("compute");
    const disturbed = fitWorkModel(syntheticRun(CLEAR.compute!), table);
    expect(disturbed.ttft![0]! / whole.ttft![0]!).toBeGreaterThan(0.8);
    expect(disturbed.ttft![0]! / whole.ttft![0]!).toBeLessThan(1.25);
    expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
    expect(() => fitWorkModel(syntheticRun({ seconds: 2 }), table)).toThrow(/too few requests/);
  });
});
