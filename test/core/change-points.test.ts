import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { segment } from "../../src/core/change-points.js";
import { contentId } from "../../src/core/content-id.js";
import { clamp, ramp, softmax } from "../../src/core/ramp.js";

const wobble = (i: number): number => (((i * 7919) % 101) / 101 - 0.5) * 0.2;

describe("segment", () => {
  it("finds one step to within a few rows and leaves a flat run whole", () => {
    const step = Array.from({ length: 300 }, (_, i) => wobble(i) + (i >= 170 ? 1 : 0));
    const found = segment(step);
    expect(found).toHaveLength(2);
    expect(Math.abs(found[1]!.from - 170)).toBeLessThanOrEqual(3);
    expect(segment(Array.from({ length: 300 }, (_, i) => wobble(i)))).toHaveLength(1);
  });

  it("finds both sides of a plateau", () => {
    const values = Array.from({ length: 400 }, (_, i) => wobble(i) + (i >= 120 && i < 220 ? 0.8 : 0));
    expect(segment(values).map((s) => Math.round(s.from / 10) * 10)).toEqual([0, 120, 220]);
  });

  it("covers every row once, whatever the values", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1, max: 2, noNaN: true }), { maxLength: 200 }), (values) => {
        const found = segment(values);
        expect(found.reduce((a, s) => a + s.to - s.from, 0)).toBe(values.length);
        for (let i = 1; i < found.length; i++) expect(found[i]!.from).toBe(found[i - 1]!.to);
      }),
    );
  });
});

describe("ramp and softmax", () => {
  it("rises, falls and keeps NaN", () => {
    expect([ramp(0, 1, 3), ramp(2, 1, 3), ramp(9, 1, 3), ramp(2, 3, 1), ramp(4, 3, 1)]).toEqual([0, 0.5, 1, 0.5, 0]);
    expect(ramp(Number.NaN, 0, 1)).toBeNaN();
    expect([ramp(1, 1, 1), ramp(0.5, 1, 1)]).toEqual([1, 0]);
    expect(clamp(5, 0, 1)).toBe(1);
  });

  it("sums to one and gives nothing to what is impossible", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -500, max: 500, noNaN: true }), { minLength: 1, maxLength: 6 }), (scores) => {
        const p = softmax([...scores, Number.NEGATIVE_INFINITY], 0.8);
        expect(p.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
        expect(p[p.length - 1]).toBe(0);
      }),
    );
  });
});

describe("contentId", () => {
  it("depends on the content alone", () => {
    expect(contentId("a|b")).toBe(contentId("a|b"));
    expect(contentId("a|b")).not.toBe(contentId("a|c"));
    expect(contentId("")).toMatch(/^[0-9a-f]{12}$/);
  });
});
