import { describe, expect, it } from "vitest";
import { conditionsAt } from "../../src/sim/conditions.js";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { ROOFLINE } from "../../src/sim/physics.js";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD, FAULTS, type Fault, type FaultKind } from "../../src/sim/scenario.js";
import { SECOND_PHYSICS } from "../../src/sim/second-physics/index.js";
import { interpolate } from "../../src/sim/second-physics/step-table.js";

const TP2 = { ...DEFAULT_SERVER, tp: 2 };
const WORK = { decodes: 20, context_tokens: 20_000, prefill_tokens: 500, prefill_attention: 125_000 };

describe("second physics", () => {
  it("interpolates between the points of an axis and goes on behind its end", () => {
    expect(interpolate([0, 10, 20], [0, 100, 300], 5)).toBe(50);
    expect(interpolate([0, 10, 20], [0, 100, 300], 15)).toBe(200);
    expect(interpolate([0, 10, 20], [0, 100, 300], 30)).toBe(500);
  });

  it.each(["thermal", "bw_cotenant", "link_degraded", "straggler", "gpu_cotenant", "topology_fallback"] as const)(
    "is slowed by %s on that resource",
    (kind: FaultKind) => {
      const magnitude = kind === "straggler" ? 20 : kind === "bw_cotenant" || kind === "gpu_cotenant" ? 0.7 : 0.05;
      const faults: Fault[] = [{ kind, start_us: 0, end_us: 1e6, magnitude }];
      const calm = SECOND_PHYSICS.stepCost(TP2, conditionsAt([], TP2, 0), WORK);
      const hurt = SECOND_PHYSICS.stepCost(TP2, conditionsAt(faults, TP2, 0), WORK);
      expect(hurt.gpu_us).toBeGreaterThan(1.3 * calm.gpu_us);
      const cls = FAULTS[kind].class;
      const grew = (c: keyof typeof calm.parts): number => hurt.parts[c] - calm.parts[c];
      if (cls !== "indeterminate") expect(grew(cls)).toBeGreaterThan(0.5 * (hurt.gpu_us - calm.gpu_us));
      for (const cost of [calm, hurt]) {
        const sum = Object.values(cost.parts).reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(cost.gpu_us, 3);
        for (const rank of cost.ranks) for (const level of [rank.sm, rank.tensor, rank.dram]) expect(level >= 0 && level <= 1).toBe(true);
      }
    },
  );

  it("serves the same arrivals at other times than the first", () => {
    const run = (physics = ROOFLINE): InferenceNode => {
      const node = new InferenceNode({ seed: 4, server: DEFAULT_SERVER, workload: DEFAULT_WORKLOAD, faults: [] }, physics);
      node.advance(40e6, 10e6);
      return node;
    };
    const [a, b, again] = [run(), run(SECOND_PHYSICS), run(SECOND_PHYSICS)];
    expect(b.requests.map((r) => r.at_us)).toEqual(a.requests.map((r) => r.at_us));
    expect(b.requests.map((r) => r.end_us)).not.toEqual(a.requests.map((r) => r.end_us));
    expect(again.requests.map((r) => r.end_us)).toEqual(b.requests.map((r) => r.end_us));
    expect(b.counters.success).toBe(b.requests.length);
  });
});
