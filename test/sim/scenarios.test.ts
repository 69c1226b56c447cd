import { describe, expect, it } from "vitest";
import { CLASSES } from "../../schemas/index.js";
import { FAULTS, type FaultKind } from "../../src/sim/scenario.js";
import { SCENARIOS } from "../../src/sim/scenarios/index.js";

describe("named scenarios", () => {
  it("are those of the specification and of its amendments, each once", () => {
    const ids = SCENARIOS.map((s) => s.id);
    const numbered = Array.from({ length: 30 }, (_, i) => String(i + 1));
    expect(ids).toEqual(
      expect.arrayContaining([...numbered, "7b", "admission-limit", "remote-prefill", "hot-expert", "restart", "two-faults"]),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(SCENARIOS.map((s) => s.scenario.seed)).size).toBe(ids.length);
  });

  it("use every fault that has a physics of its own", () => {
    const used = new Set(SCENARIOS.flatMap((s) => s.scenario.faults.map((f) => f.kind)));
    const elsewhere: FaultKind[] = ["bw_cotenant", "cpu_tokenize", "link_degraded", "long_prompts"];
    const unused = (Object.keys(FAULTS) as FaultKind[]).filter((kind) => !used.has(kind) && !elsewhere.includes(kind));
    expect(unused).toEqual([]);
  });

  it.each(SCENARIOS.map((s) => [s.id, s] as const))("%s expects something that can be said", (_, s) => {
    expect(s.seconds).toBeGreaterThan(0);
    if (s.expect === "quiet") {
      expect(s.scenario.faults).toEqual([]);
      return;
    }
    const classes = s.expect.classes.flat();
    expect(classes.length).toBeGreaterThan(0);
    for (const c of [...classes, ...(s.expect.never ?? [])]) expect(CLASSES).toContain(c);
    expect(s.scenario.faults.length).toBeGreaterThan(0);
    for (const f of s.scenario.faults) expect(f.end_us).toBeGreaterThan(f.start_us);
  });
});
