import { describe, expect, it } from "vitest";
import { RESOURCE_CLASSES } from "../../schemas/index.js";
import { addToTally, correlateLabRun, emptyTally, LAB, labRuns } from "./lab-runs.js";

const runs = labRuns();

describe.skipIf(runs.length === 0)(`labelled runs (skipped where there are none at ${LAB.split("/").slice(-5).join("/")})`, () => {
  it("are judged right, by the way that a user takes", async () => {
    const tally = emptyTally();
    for (const name of runs) addToTally(tally, name, await correlateLabRun(name));
    const recall = tally.found / (tally.found + tally.missed);
    const f1 = RESOURCE_CLASSES.map((c) => {
      const { right, wrong, missed } = tally.byClass.get(c)!;
      return (2 * right) / (2 * right + wrong + missed);
    });
    expect(recall).toBeGreaterThanOrEqual(0.98);
    expect(tally.falsePositives / tally.quiet).toBeLessThanOrEqual(0.005);
    expect(f1.reduce((a, b) => a + b, 0) / f1.length).toBeGreaterThanOrEqual(0.98);
  }, 180_000);
});
