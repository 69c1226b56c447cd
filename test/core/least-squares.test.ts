import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitNonNegative, predictRow } from "../../src/core/least-squares.js";

const rows = (n: number) => Int32Array.from({ length: n }, (_, i) => i);

/** A small deterministic sequence in (-1, 1). */
const noise = (i: number): number => (((i * 7919 + 13) % 1000) / 500 - 1) * 0.5;

describe("fitNonNegative", () => {
  it("recovers exact non-negative coefficients", () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 50, noNaN: true }), fc.double({ min: 0.01, max: 2, noNaN: true }), (b0, b1) => {
        const x = Float64Array.from({ length: 40 }, (_, i) => 10 + 17 * i);
        const y = x.map((v) => b0 + b1 * v);
        const b = fitNonNegative([new Float64Array(40).fill(1), x], y, rows(40))!;
        expect(b[0]! / b0).toBeCloseTo(1, 3);
        expect(b[1]! / b1).toBeCloseTo(1, 3);
      }),
    );
  });

  it("never gives a negative or infinite coefficient", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1, max: 100, noNaN: true }), { minLength: 10, maxLength: 25 }), (values) => {
        const n = values.length;
        const one = new Float64Array(n).fill(1);
        const x = Float64Array.from({ length: n }, (_, i) => i);
        const y = Float64Array.from(values);
        const b = fitNonNegative([one, x], y, rows(n))!;
        expect(Math.min(...b)).toBeGreaterThanOrEqual(0);
        expect(b.every(Number.isFinite)).toBe(true);
      }),
    );
  });

  it("clips a falling slope to zero instead of turning it negative", () => {
    const x = Float64Array.from({ length: 30 }, (_, i) => i);
    const b = fitNonNegative(
      [new Float64Array(30).fill(1), x],
      x.map((v) => 100 - v),
      rows(30),
    )!;
    expect(b[1]).toBe(0);
    expect(b[0]).toBeGreaterThan(60);
  });

  it("is not moved by one row in ten that is tenfold", () => {
    const x = Float64Array.from({ length: 100 }, (_, i) => 50 + 10 * i);
    const y = x.map((v, i) => (20 + 0.3 * v) * (1 + 0.02 * noise(i)) * (i % 10 === 0 ? 10 : 1));
    const b = fitNonNegative([new Float64Array(100).fill(1), x], y, rows(100))!;
    expect(predictRow(b, [new Float64Array(100).fill(1), x], 55)).toBeGreaterThan(0.9 * (20 + 0.3 * x[55]!));
    expect(predictRow(b, [new Float64Array(100).fill(1), x], 55)).toBeLessThan(1.1 * (20 + 0.3 * x[55]!));
  });

  it("leaves rows out that lack a feature, and gives null when none is left", () => {
    const x = Float64Array.from([Number.NaN, Number.NaN]);
    expect(fitNonNegative([x], Float64Array.from([1, 2]), rows(2))).toBeNull();
    expect(fitNonNegative([Float64Array.from([1])], Float64Array.from([0]), rows(1))).toBeNull();
  });
});
