import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRowClock, parseDmonStamp, parseSmiStamp } from "../../src/text/nvidia-smi-stamp.js";

const S = 1_000_000;
const QUARTER = 900 * S;
const START = 1_780_000_000 * S;

test("stamps", () => {
  expect(parseSmiStamp("2026/07/14 08:12:53.353")).toBe(Date.UTC(2026, 6, 14, 8, 12, 53, 353) * 1000);
  expect(parseSmiStamp("2026/07/14 08:12:53")).toBe(Date.UTC(2026, 6, 14, 8, 12, 53) * 1000);
  for (const bad of ["", "2026/02/30 08:12:53.353", "2026/13/01 08:12:53.353", "2026/07/14 25:12:53.353", "[N/A]", "Fri Apr 10"])
    expect(parseSmiStamp(bad)).toBeNull();
  expect(parseDmonStamp("20260816", "09:22:34")).toBe(Date.UTC(2026, 7, 16, 9, 22, 34) * 1000);
  expect(parseDmonStamp(undefined, "09:22:34")).toBe((9 * 3600 + 22 * 60 + 34) * S);
  expect(parseDmonStamp("20260816", undefined)).toBeNull();
  expect(parseDmonStamp("20261316x", "09:22:34")).toBeNull();
});

/** Rows made every interval, handed over when the buffer holds `burst` of them. Zone and summer time only move the stamps. */
const run = fc.record({
  interval_us: fc.integer({ min: 100_000, max: 2 * S }),
  jitter: fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 30, maxLength: 30 }),
  burst: fc.integer({ min: 1, max: 15 }),
  startup_us: fc.integer({ min: 10_000, max: 4 * S }),
  zone: fc.integer({ min: -48, max: 56 }),
  summerTimeAt: fc.integer({ min: 0, max: 30 }),
});

const simulate = (r: { interval_us: number; jitter: number[]; burst: number; startup_us: number; zone: number; summerTimeAt: number }) => {
  const made = r.jitter.map((j, i) => START + r.startup_us + i * r.interval_us + j);
  return made.map((true_us, i) => {
    const last = Math.min(made.length - 1, i + (r.burst - 1 - (i % r.burst)));
    const shift = r.zone * QUARTER - (i >= r.summerTimeAt ? 4 * QUARTER : 0);
    return { true_us, received_us: made[last]! + 2000, stamp_us: Math.floor(true_us / 1000) * 1000 + shift };
  });
};

describe("row clock", () => {
  test("property: a prompt pipe keeps the receipts, in every zone and over a change of summer time", () => {
    fc.assert(
      fc.property(run, (r) => {
        const clock = createRowClock({ started_us: START, tolerance_us: 2 * r.interval_us, resolution_us: 1000 });
        for (const row of simulate({ ...r, burst: 1 })) {
          expect(clock.place(row.received_us, row.stamp_us)).toMatchObject({ ts_us: row.received_us, held: false });
        }
      }),
    );
  });

  test("property: once rows are held back, they are dated when they were made, not when they came", () => {
    fc.assert(
      fc.property(run, (r) => {
        fc.pre(r.burst >= 5);
        const clock = createRowClock({ started_us: START, tolerance_us: 2 * r.interval_us, resolution_us: 1000 });
        let held = false;
        for (const row of simulate(r)) {
          const time = clock.place(row.received_us, row.stamp_us);
          held ||= time.held;
          if (held) expect(Math.abs(time.ts_us - row.true_us)).toBeLessThanOrEqual(2000);
          expect(time.ts_us).toBeLessThanOrEqual(row.received_us);
        }
        expect(held).toBe(true);
      }),
    );
  });

  test("property: stamps of a clock that is not ours never date a row before the program or after its receipt", () => {
    fc.assert(
      fc.property(run, fc.integer({ min: 60 * S, max: 800 * S }), (r, wrong_us) => {
        const clock = createRowClock({ started_us: START, tolerance_us: 2 * r.interval_us });
        for (const row of simulate(r)) {
          const { ts_us } = clock.place(row.received_us, row.stamp_us - wrong_us);
          expect(ts_us).toBeLessThanOrEqual(row.received_us);
          expect(ts_us).toBeGreaterThanOrEqual(START - S);
        }
      }),
    );
  });

  test("twenty rows at one instant are spread", () => {
    const clock = createRowClock({ started_us: START, tolerance_us: 2 * S });
    const received_us = START + 21 * S;
    const times = Array.from({ length: 20 }, (_, i) => clock.place(received_us, START + (i + 1) * S + 4 * QUARTER).ts_us);
    expect(times).toEqual(Array.from({ length: 20 }, (_, i) => START + (i + 1) * S));
  });

  test("stamps to the second date a held row to the middle of its second", () => {
    const clock = createRowClock({ started_us: START, tolerance_us: 2 * S, resolution_us: S });
    expect(clock.place(START + 2.9 * S, START + 2 * S).ts_us).toBe(START + 2.9 * S);
    expect(clock.place(START + 21 * S, START + 10 * S)).toEqual({ ts_us: START + 10.5 * S, late_us: 11 * S, held: true });
  });

  test("a row without a stamp keeps its receipt", () => {
    const clock = createRowClock({ started_us: START, tolerance_us: S });
    expect(clock.place(START + 5, null)).toEqual({ ts_us: START + 5, late_us: 0, held: false });
  });
});
