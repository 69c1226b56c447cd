import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { activeSpanUs } from "../../src/diagnose/active-time.js";

const at = (seconds: number[]): Float64Array => Float64Array.from(seconds, (s) => s * 1e6);

describe("time with traffic", () => {
  it("leaves nights and stray clocks out", () => {
    const minute = Array.from({ length: 60 }, (_, i) => i);
    expect(activeSpanUs(at(minute))).toBe(59e6);
    expect(activeSpanUs(at([...minute, 59 + 6 * 3600]))).toBe(59e6 + 50e6);
    expect(activeSpanUs(at([...minute, 3.15e8]))).toBe(59e6 + 50e6);
  });
  it("is the whole span where no pause is long, and nothing for one request", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 29 }), { minLength: 1, maxLength: 40 }), (gaps) => {
        const times = [0];
        for (const g of gaps) times.push(times.at(-1)! + g);
        return activeSpanUs(at(times)) === times.at(-1)! * 1e6;
      }),
    );
    expect(activeSpanUs(at([5]))).toBe(0);
  });
});
