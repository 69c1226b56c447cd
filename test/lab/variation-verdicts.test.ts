import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { ablate, answeredShare } from "../../src/cli/eval/ablation.js";
import { judgeGenerated } from "../../src/cli/eval/generated-runs.js";
import { figures } from "../../src/cli/eval/tally.js";

const table = defaultDecisionTable();
const full = process.env.WHYSLOW_FULL === "1";
const MINUTES = 60_000;

describe("verdicts on random variations", () => {
  it("of twenty do not collapse", () => {
    const { total } = judgeGenerated({ runs: 20, seed: 1, physics: "first" }, table);
    const f = figures(total);
    expect(f.recall).toBeGreaterThan(0.75);
    expect(f.false_positive_rate).toBeLessThan(0.05);
    // A guard against collapse: twenty hard runs weigh by their requests, so one of them moves this by a tenth. The bars are below.
    expect(f.accuracy_of_answers).toBeGreaterThan(0.55);
  }, 240_000);

  describe.skipIf(!full)("in full (skipped: WHYSLOW_FULL=1 runs it)", () => {
    it.each([
      ["full", 0.92],
      ["smi", 0.8],
    ] as const)(
      "of 300 in the tier %s reach macro-F1 %f",
      (tier, least) => {
        const { total } = judgeGenerated({ runs: 300, seed: 10_000, tier, physics: "first" }, table);
        expect(figures(total).macro_f1).toBeGreaterThanOrEqual(least);
      },
      60 * MINUTES,
    );

    it(
      "of 150 by another physics reach macro-F1 0.85",
      () => {
        const { total } = judgeGenerated({ runs: 150, seed: 20_000, tier: "full", physics: "second" }, table);
        expect(figures(total).macro_f1).toBeGreaterThanOrEqual(0.85);
      },
      30 * MINUTES,
    );

    it(
      "blame no resource where the node was not the cause",
      () => {
        const families = ["none", "client_network", "pause", "restart"];
        const tallies = families.map((family) => judgeGenerated({ runs: 25, seed: 30_000, family, physics: "first" }, table).total);
        const wrong = tallies.reduce((n, t) => n + t.wrong, 0);
        const found = tallies.reduce((n, t) => n + t.found, 0);
        expect(wrong / found).toBeLessThanOrEqual(0.05);
      },
      30 * MINUTES,
    );

    it(
      "stay right in what they answer while sources are taken away, with less confidence",
      () => {
        const rows = ablate(3, 40_000, table);
        const [best] = rows;
        for (const { name, tally } of rows) {
          const f = figures(tally);
          if (answeredShare(tally) > 0) expect(f.accuracy_of_answers, name).toBeGreaterThanOrEqual(0.95);
          expect(answeredShare(tally), name).toBeLessThanOrEqual(answeredShare(best!.tally) + 0.01);
        }
      },
      30 * MINUTES,
    );
  });
});
