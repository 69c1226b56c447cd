import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SignalHistory } from "../../src/sim/signal-history.js";

describe("SignalHistory", () => {
  it("gives the same mean as adding up the segments", () => {
    const segment = fc.record({ width: fc.integer({ min: 0, max: 50 }), level: fc.integer({ min: -5, max: 5 }) });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 30 }), fc.nat(400), fc.nat(400), (segments, a, b) => {
        const history = new SignalHistory(1);
        const slow: number[] = [];
        for (const { width, level } of segments) {
          history.push(history.end_us + width, [level]);
          for (let i = 0; i < width; i++) slow.push(level);
        }
        const from = Math.min(a, b, slow.length);
        const to = Math.min(Math.max(a, b), slow.length);
        const expected = to > from ? slow.slice(from, to).reduce((x, y) => x + y, 0) / (to - from) : 0;
        expect(history.mean(0, from, to)).toBeCloseTo(expected, 9);
      }),
    );
  });

  it("keeps integrals while it forgets old segments", () => {
    const history = new SignalHistory(1);
    for (let t = 1; t <= 60_000; t++) history.push(t, [2]);
    expect(history.integral(0, 60_000)).toBe(120_000);
    expect(history.mean(0, 59_000, 60_000)).toBe(2);
  });
});
