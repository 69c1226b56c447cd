import fc from "fast-check";
import { expect, test } from "vitest";
import { createCycleGrouper } from "../../src/text/nvidia-smi-cycles.js";

const GAP = 500;

test("a cycle ends as soon as all GPUs of the last one are there", () => {
  const grouper = createCycleGrouper<string>(GAP);
  expect(grouper.push("a", 0, "a0")).toEqual([]);
  expect(grouper.push("b", 1, "b0")).toEqual([]);
  expect(grouper.push("b", 1000, "b1")).toEqual([["a0", "b0"]]);
  expect(grouper.push("a", 1001, "a1")).toEqual([["b1", "a1"]]);
  expect(grouper.push("a", 2000, "a2")).toEqual([]);
  expect(grouper.flush()).toEqual(["a2"]);
});

test("a lost GPU delays three cycles, no more", () => {
  const grouper = createCycleGrouper<string>(GAP);
  for (const key of ["a", "b", "a", "b"]) grouper.push(key, key === "a" ? 0 : 1, key);
  const sizes: number[] = [];
  for (let i = 2; i < 8; i++) sizes.push(grouper.push("a", i * 1000, `a${i}`).length);
  expect(sizes).toEqual([0, 1, 1, 2, 1, 1]);
});

test("property: every row comes out once, in order, no GPU twice in a cycle, and whole cycles stay whole", () => {
  const cycles = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(cycles, { maxLength: 20 }), (input) => {
      const grouper = createCycleGrouper<{ key: string; cycle: number }>(GAP);
      const out: { key: string; cycle: number }[][] = [];
      input.forEach((keys, cycle) => {
        keys.forEach((key, i) => out.push(...grouper.push(key, cycle * 1000 + i, { key, cycle }).map((c) => [...c])));
      });
      out.push([...grouper.flush()]);
      expect(out.flat()).toEqual(input.flatMap((keys, cycle) => keys.map((key) => ({ key, cycle }))));
      for (const cycle of out) {
        expect(new Set(cycle.map((r) => r.key)).size).toBe(cycle.length);
        expect(new Set(cycle.map((r) => r.cycle)).size).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test("property: with the same GPUs in every cycle, one reading a cycle, whatever the order", () => {
  const order = fc.shuffledSubarray(["a", "b", "c"], { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(order, { minLength: 2, maxLength: 20 }), (input) => {
      const grouper = createCycleGrouper<string>(GAP);
      const out = input.flatMap((keys, cycle) => keys.flatMap((key, i) => grouper.push(key, cycle * 1000 + i, key)));
      expect(out).toEqual(input);
    }),
  );
});
