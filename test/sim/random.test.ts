import { describe, expect, it } from "vitest";
import { Random } from "../../src/sim/random.js";

const draw = (r: Random, n: number): number[] => Array.from({ length: n }, () => r.next());

describe("Random", () => {
  it("repeats by seed and stream, and differs between them", () => {
    expect(draw(new Random(1, "a"), 20)).toEqual(draw(new Random(1, "a"), 20));
    expect(draw(new Random(1, "a"), 20)).not.toEqual(draw(new Random(1, "b"), 20));
    expect(draw(new Random(1, "a"), 20)).not.toEqual(draw(new Random(2, "a"), 20));
  });

  it("draws uniform, normal, exponential and lognormal values of the right moments", () => {
    const r = new Random(7, "moments");
    const n = 20_000;
    const mean = (f: () => number): number => Array.from({ length: n }, f).reduce((a, b) => a + b, 0) / n;
    expect(mean(() => r.next())).toBeCloseTo(0.5, 1.7);
    expect(mean(() => r.normal())).toBeCloseTo(0, 1.5);
    expect(mean(() => r.normal() ** 2)).toBeCloseTo(1, 1);
    expect(mean(() => r.exponential(3))).toBeCloseTo(3, 0.7);
    expect(mean(() => Math.log(r.lognormal(Math.E, 0.5)))).toBeCloseTo(1, 1.5);
  });
});
