import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { judgeScenario } from "../../src/cli/eval/judge-scenario.js";
import { SCENARIOS } from "../../src/sim/scenarios/index.js";

/** Scenarios whose report is known to be wrong, with the reason: a list that may only shrink. */
const KNOWN = JSON.parse(fs.readFileSync(new URL("known-misses.json", import.meta.url), "utf8")) as Record<string, string>;
const table = defaultDecisionTable();
const SEEDS = process.env.WHYSLOW_FULL === "1" ? 10 : 2;

describe("verdicts on named scenarios", () => {
  it("lists no scenario that does not exist as a known miss", () => {
    const ids = SCENARIOS.map((s) => s.id);
    expect(Object.keys(KNOWN).filter((id) => !ids.includes(id))).toEqual([]);
    for (const reason of Object.values(KNOWN)) expect(reason.length).toBeGreaterThan(20);
  });

  const slow = SCENARIOS.filter((s) => s.expect !== "quiet");
  it.each(slow.map((s) => [s.id, s.title, s] as const))("%s, %s: says what must be said, or is a known miss", (id, _, s) => {
    const { faults, given } = judgeScenario(s, table);
    if (KNOWN[id] === undefined) expect(faults, JSON.stringify(given)).toEqual([]);
    else expect(faults, `${id} is right now: take it out of known-misses.json`).not.toEqual([]);
  });

  const quiet = SCENARIOS.filter((s) => s.expect === "quiet");
  it.each(quiet.map((s) => [s.id, s.title, s] as const))(
    "%s, %s: is left alone, or is a known miss",
    (id, _, s) => {
      const faults = Array.from({ length: SEEDS }, (_unused, k) => judgeScenario(s, table, "both", 1000 * k).faults).flat();
      if (KNOWN[id] === undefined) expect(faults).toEqual([]);
      else expect(faults, `${id} is quiet now: take it out of known-misses.json`).not.toEqual([]);
    },
    600_000,
  );
});
