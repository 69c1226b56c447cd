import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CFS_PERIOD_US, cpuEnd } from "../../src/sim/conditions.js";
import type { Fault } from "../../src/sim/scenario.js";

/** Walks the microseconds one by one. */
function oracle(faults: readonly Fault[], at: number, work: number): number {
  let left = work;
  let now = at;
  while (left > 0) {
    const fault = faults.find((f) => f.start_us <= now && now < f.end_us);
    if (!fault || now % CFS_PERIOD_US < CFS_PERIOD_US * fault.magnitude) left--;
    now++;
  }
  return now;
}

describe("cpuEnd", () => {
  it("agrees with walking through the throttled periods", () => {
    const arbitrary = fc.record({
      start: fc.integer({ min: 0, max: 300_000 }),
      length: fc.integer({ min: 1, max: 300_000 }),
      share: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(arbitrary, fc.nat(400_000), fc.integer({ min: 1, max: 60_000 }), ({ start, length, share }, at, work) => {
        const faults: Fault[] = [{ kind: "cpu_throttle", start_us: start, end_us: start + length, magnitude: share / 10 }];
        expect(cpuEnd(faults, at, work)).toBe(oracle(faults, at, work));
      }),
      { numRuns: 60 },
    );
  });

  it("is plain addition without a quota", () => {
    expect(cpuEnd([], 5, 7)).toBe(12);
  });
});
