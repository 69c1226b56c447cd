import { describe, expect, it } from "vitest";
import { startPeriodic } from "../../src/platform/scheduler.js";
import { fakeTimers } from "./fake-timers.js";

const neverFails = (error: unknown): void => {
  throw error;
};

describe("startPeriodic", () => {
  it("ticks on its grid and does not drift when the work takes time", async () => {
    const timers = fakeTimers(10_300);
    const starts: number[] = [];
    const task = startPeriodic({
      intervalMs: 1000,
      alignMs: 0,
      timers,
      onError: neverFails,
      run: () => {
        starts.push(timers.nowMs());
        return new Promise<void>((resolve) => void timers.after(137, resolve));
      },
    });
    await timers.advance(4000);
    expect(starts).toEqual([11_000, 12_000, 13_000, 14_000]);
    task.stop();
    await timers.advance(5000);
    expect(starts).toHaveLength(4);
    expect(timers.pending).toBe(0);
  });

  it("never runs twice at once, and says how many ticks it left out", async () => {
    const timers = fakeTimers(0);
    const ticks: [number, number][] = [];
    const task = startPeriodic({
      intervalMs: 100,
      timers,
      onError: neverFails,
      run: (tick) => {
        ticks.push([timers.nowMs(), tick.missed]);
        return new Promise<void>((resolve) => void timers.after(ticks.length === 1 ? 350 : 10, resolve));
      },
    });
    await timers.advance(600);
    expect(ticks).toEqual([
      [0, 0],
      [400, 3],
      [500, 0],
      [600, 0],
    ]);
    expect(task.missed).toBe(3);
    task.stop();
  });

  it("leaves out what passed while the process stood still", async () => {
    const timers = fakeTimers(0);
    const ticks: number[] = [];
    const task = startPeriodic({ intervalMs: 100, timers, onError: neverFails, run: (tick) => void ticks.push(tick.dueMs) });
    await timers.advance(150);
    timers.stall(725);
    await timers.advance(200);
    expect(ticks).toEqual([0, 100, 800, 900, 1000]);
    expect(task.missed).toBe(6);
    task.stop();
  });

  it("goes on after a run that failed", async () => {
    const timers = fakeTimers(0);
    const errors: unknown[] = [];
    let runs = 0;
    const task = startPeriodic({
      intervalMs: 100,
      timers,
      onError: (error) => errors.push((error as Error).message),
      run: () => {
        runs++;
        throw new Error(`run ${runs}`);
      },
    });
    await timers.advance(210);
    task.stop();
    expect(errors).toEqual(["run 1", "run 2", "run 3"]);
  });

  it("refuses an interval that is not positive", () => {
    for (const intervalMs of [0, -1, Number.NaN]) {
      expect(() => startPeriodic({ intervalMs, onError: neverFails, run: () => {} })).toThrow(/positive/);
    }
  });
});
