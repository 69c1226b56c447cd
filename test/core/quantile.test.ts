import fc from "fast-check";
import * as ss from "simple-statistics";
import { describe, expect, it } from "vitest";
import { median, quantile, quantileSorted } from "../../src/core/quantile.js";
import { robustScale, robustSd } from "../../src/core/robust-scale.js";
import { theilSen } from "../../src/core/theil-sen.js";

const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 });

/** Type 7 by its definition: interpolate between the order statistics around (n - 1) p. */
const oracle = (values: number[], p: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * p;
  const low = sorted[Math.floor(at)]!;
  const high = sorted[Math.ceil(at)]!;
  return low + (at - Math.floor(at)) * (high - low);
};

describe("quantiles", () => {
  it("agree with the definition at every p", () => {
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), (values, p) => {
        expect(quantile(values, p)).toBeCloseTo(oracle(values, p), 6);
      }),
    );
  });

  it("agree with simple-statistics where conventions agree: median, extremes, MAD", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        expect(median(values)).toBeCloseTo(ss.median(values), 6);
        expect(quantile(values, 0) + 0).toBe(ss.min(values) + 0);
        expect(quantile(values, 1) + 0).toBe(ss.max(values) + 0);
        expect(robustSd(values)).toBeCloseTo(1.4826 * ss.medianAbsoluteDeviation(values), 5);
      }),
    );
  });

  it("leave missing values out and give NaN for none", () => {
    expect(quantile([Number.NaN, 1, 3, Number.POSITIVE_INFINITY], 0.5)).toBe(2);
    expect(quantileSorted([], 0.5)).toBeNaN();
    expect(median([Number.NaN])).toBeNaN();
  });
});

describe("robustScale", () => {
  it("keeps the lower side untouched by any upper contamination below half", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 21, maxLength: 60 }), (values) => {
        const before = robustScale(values);
        const spiked = values.map((v, i) => (v > before.median && i % 3 === 0 ? v + 1000 : v));
        expect(robustScale(spiked).down).toBeCloseTo(before.down, 9);
      }),
    );
  });

  it("is zero on identical values and NaN-centred on none", () => {
    expect(robustScale([5, 5, 5])).toEqual({ median: 5, up: 0, down: 0 });
    expect(robustScale([]).median).toBeNaN();
  });
});

describe("theilSen", () => {
  it("finds the line under a quarter of wild points", () => {
    const x = Array.from({ length: 40 }, (_, i) => i);
    const y = x.map((v) => (v % 4 === 3 ? 1e5 : 2 + 0.5 * v));
    expect(theilSen(x, y).slope).toBeCloseTo(0.5, 6);
    expect(theilSen(x, y).intercept).toBeCloseTo(2, 6);
  });

  it("strides over long inputs and gives NaN for a single x", () => {
    const x = Array.from({ length: 5000 }, (_, i) => i);
    expect(
      theilSen(
        x,
        x.map((v) => 7 - 3 * v),
      ).slope,
    ).toBeCloseTo(-3, 9);
    expect(theilSen([1, 1], [2, 3]).slope).toBeNaN();
  });
});
