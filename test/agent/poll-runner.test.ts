import { describe, expect, it } from "vitest";
import { fakeTimers } from "../platform/fake-timers.js";
import { abortOf, bench, EMPTY, never, pollCollector, stopNow, times } from "./runner-bench.js";

describe("startPollRunner", () => {
  it("polls on the grid and keeps count", async () => {
    const b = bench(pollCollector(async () => EMPTY));
    await b.timers.advance(3500);
    expect(times(b)).toEqual([0, 1000, 2000, 3000]);
    expect(b.state).toMatchObject({
      success: true,
      attempts: 4,
      failures: 0,
      timeouts: 0,
      missed: 0,
      lastSuccessUs: 1_700_000_003_000_000,
    });
    expect(b.disposed).toBe(4);
    await stopNow(b);
    await b.timers.advance(5000);
    expect(b.state.attempts).toBe(4);
    expect(b.timers.pending).toBe(0);
  });

  it("polls less and less often while it fails, up to once a minute, and as before once it works again", async () => {
    const starts: number[] = [];
    let works = false;
    const timers = fakeTimers(0);
    const b = bench(
      pollCollector(async () => {
        starts.push(timers.nowMs());
        if (!works) throw new Error("connection refused");
        return EMPTY;
      }),
      { timers },
    );
    await timers.advance(64_000);
    expect(starts).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 63_000]);
    expect(b.state).toMatchObject({ success: false, failures: 7, lastError: "connection refused" });
    expect(b.logged).toEqual(["connection refused"]);
    await timers.advance(180_000);
    const apart = starts.slice(-2).reduce((a, c) => c - a);
    expect(apart).toBe(60_000);
    works = true;
    await timers.advance(61_000);
    const before = starts.length;
    await timers.advance(5000);
    expect(starts.length - before).toBe(5);
    expect(b.state.success).toBe(true);
    await stopNow(b);
  });

  it("takes a synchronous throw and a rejection for the same thing", async () => {
    const b = bench(
      pollCollector(() => {
        throw new Error("at once");
      }),
    );
    await b.timers.advance(10);
    expect(b.state).toMatchObject({ failures: 1, lastError: "at once" });
    await stopNow(b);
  });

  it("aborts a poll that is late, ignores what it brings, and goes on", async () => {
    let polls = 0;
    const b = bench(
      pollCollector(async (ctx) => {
        polls++;
        if (polls > 1) return EMPTY;
        await abortOf(ctx.signal);
        return { samples: [], notice: "too late" };
      }),
    );
    await b.timers.advance(2100);
    expect(times(b)).toEqual([1000, 2000]);
    expect(b.state).toMatchObject({ timeouts: 1, failures: 1, restarts: 0, notice: null, success: true });
    expect(b.logged).toEqual(["no reading within 500 ms"]);
    await stopNow(b);
  });

  it("leaves a poll that hears nothing to itself and goes on with a new instance", async () => {
    let instances = 0;
    const collector = pollCollector(never, {
      start: () => {
        const instance = ++instances;
        return { poll: () => (instance === 1 ? never() : Promise.resolve(EMPTY)) };
      },
    });
    const b = bench(collector);
    await b.timers.advance(4000);
    expect(instances).toBe(2);
    // Deadline 750 ms, then a second of grace: the tick at 1000 is left out.
    expect(times(b)).toEqual([2000, 3000, 4000]);
    expect(b.state).toMatchObject({ timeouts: 1, restarts: 1, missed: 1, success: true });
    await stopNow(b);
  });

  it("stops within its grace though the poll hears nothing", async () => {
    const b = bench(pollCollector(never), { timeoutMs: 60_000 });
    await b.timers.advance(100);
    let stopped = false;
    void b.runner.stop().then(() => {
      stopped = true;
    });
    await b.timers.advance(2000);
    expect(stopped).toBe(true);
  });

  it("takes no reading that a stopped poll still brings", async () => {
    const b = bench(
      pollCollector(async (ctx) => {
        await abortOf(ctx.signal);
        return EMPTY;
      }),
    );
    await b.timers.advance(100);
    await stopNow(b);
    expect(times(b)).toEqual([]);
    expect(b.state).toMatchObject({ attempts: 1, failures: 0, success: null });
  });

  it("tells a notice once", async () => {
    const b = bench(pollCollector(async () => ({ samples: [], notice: "profiling fields absent" })));
    await b.timers.advance(3000);
    expect(b.logged).toEqual(["profiling fields absent"]);
    expect(b.state.notice).toBe("profiling fields absent");
    await stopNow(b);
  });
});
