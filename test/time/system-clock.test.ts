import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ClockStep, createSystemClock } from "../../src/time/system-clock.js";

function fakeClock(wallOffsetMs = 1_700_000_000_000) {
  const state = { mono: 5000.25, offset: wallOffsetMs };
  const steps: ClockStep[] = [];
  const clock = createSystemClock({
    monoMs: () => state.mono,
    wallMs: () => Math.floor(state.mono + state.offset),
    onStep: (step) => steps.push(step),
  });
  return { state, steps, clock, trueUs: () => (state.mono + state.offset) * 1000 };
}

describe("createSystemClock", () => {
  it("stays within a millisecond of the wall clock, ascends, and has microseconds", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.001, max: 900, noNaN: true }), { minLength: 1, maxLength: 60 }), (moves) => {
        const { state, steps, clock, trueUs } = fakeClock();
        let last = clock.wallUs();
        for (const move of moves) {
          state.mono += move;
          const now = clock.wallUs();
          expect(Math.abs(now - trueUs())).toBeLessThanOrEqual(1001);
          expect(now).toBeGreaterThanOrEqual(last);
          expect(Number.isInteger(now)).toBe(true);
          last = now;
        }
        expect(steps).toEqual([]);
        expect(clock.epoch()).toBe(0);
      }),
    );
  });

  it("follows a slewed clock without a new epoch", () => {
    const { state, steps, clock, trueUs } = fakeClock();
    for (let second = 0; second < 3600; second++) {
      state.mono += 1000;
      state.offset += 0.5;
      clock.wallUs();
    }
    expect(Math.abs(clock.wallUs() - trueUs())).toBeLessThanOrEqual(1001);
    expect(steps).toEqual([]);
  });

  it.each([3_600_000, -3_600_000, 51.5, -51.5])("begins an epoch at a step of %d ms", (step) => {
    const { state, steps, clock, trueUs } = fakeClock();
    state.mono += 1000;
    clock.wallUs();
    const mono = clock.monoUs();
    state.offset += step;
    state.mono += 1;
    expect(clock.epoch()).toBe(1);
    expect(Math.abs(clock.wallUs() - trueUs())).toBeLessThanOrEqual(1001);
    expect(clock.monoUs() - mono).toBe(1000);
    expect(steps).toHaveLength(1);
    expect(steps[0]!.epoch).toBe(1);
    expect(Math.abs(steps[0]!.delta_us - step * 1000)).toBeLessThanOrEqual(1001);
    expect(steps[0]!.ts_us).toBe(Math.floor(trueUs() / 1000) * 1000);
  });

  it("takes a move of less than 50 ms for no step", () => {
    const { state, steps, clock } = fakeClock();
    clock.wallUs();
    state.offset += 48;
    clock.wallUs();
    state.offset -= 48;
    clock.wallUs();
    expect(steps).toEqual([]);
  });

  it("reads the real clocks", () => {
    const clock = createSystemClock();
    expect(Math.abs(clock.wallUs() - Date.now() * 1000)).toBeLessThan(1_000_000);
    expect(clock.epoch()).toBe(0);
  });
});
