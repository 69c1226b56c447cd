import { describe, expect, it } from "vitest";
import { fakeTimers } from "../platform/fake-timers.js";
import { abortOf, bench, EMPTY, never, stopNow, streamCollector, times } from "./runner-bench.js";

describe("startStreamRunner", () => {
  it("takes readings as they come and stops when asked", async () => {
    const timers = fakeTimers(0);
    const b = bench(
      streamCollector(async (ctx, emit) => {
        const tick = (): void => {
          if (ctx.signal.aborted) return;
          emit(EMPTY);
          timers.after(1000, tick);
        };
        tick();
        await abortOf(ctx.signal);
      }),
      { timers },
    );
    await timers.advance(3500);
    expect(times(b)).toEqual([0, 1000, 2000, 3000]);
    expect(b.state).toMatchObject({ success: true, attempts: 1, restarts: 0, failures: 0 });
    await stopNow(b);
    expect(b.disposed).toBe(1);
    await timers.advance(10_000);
    expect(times(b)).toHaveLength(4);
    expect(timers.pending).toBe(0);
  });

  it("restarts a stream that ends or fails, with back-off up to a minute", async () => {
    const starts: number[] = [];
    const timers = fakeTimers(0);
    const b = bench(
      streamCollector(async () => {
        starts.push(timers.nowMs());
        if (starts.length % 2) throw new Error("exit status 9");
      }),
      { timers },
    );
    await timers.advance(64_000);
    expect(starts).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 63_000]);
    expect(b.state).toMatchObject({ attempts: 7, restarts: 6, failures: 7, success: false });
    await timers.advance(180_000);
    expect(starts.slice(-2).reduce((a, c) => c - a)).toBe(60_000);
    await stopNow(b);
    expect(timers.pending).toBe(0);
  });

  it("restarts a stream that fell silent, sooner than one that has not begun yet", async () => {
    const starts: number[] = [];
    const timers = fakeTimers(0);
    const b = bench(
      streamCollector(async (ctx, emit) => {
        starts.push(timers.nowMs());
        if (starts.length === 1) emit(EMPTY);
        await abortOf(ctx.signal);
      }),
      { timers },
    );
    await timers.advance(20_000);
    // 3 s of silence and 1 s of back-off; the second one never said anything: 15 s and 2 s.
    expect(starts).toEqual([0, 4000]);
    await timers.advance(2000);
    expect(starts).toEqual([0, 4000, 21_000]);
    expect(b.state).toMatchObject({ timeouts: 2, restarts: 2 });
    expect(b.logged).toEqual(["silent: no reading for 3 s", "silent: no reading for 15 s"]);
    await stopNow(b);
  });

  it("gives up a stream that hears nothing, and ignores what it still says", async () => {
    const emits: (() => void)[] = [];
    const b = bench(
      streamCollector(async (_ctx, emit) => {
        emits.push(() => emit(EMPTY));
        emit(EMPTY);
        await never();
      }),
    );
    await b.timers.advance(5500);
    expect(emits).toHaveLength(2);
    const before = b.readings.length;
    emits[0]!();
    expect(b.readings.length).toBe(before);
    emits[1]!();
    expect(b.readings.length).toBe(before + 1);
    let stopped = false;
    void b.runner.stop().then(() => {
      stopped = true;
    });
    await b.timers.advance(3000);
    expect(stopped).toBe(true);
  });

  it("ends a flood of readings", async () => {
    let starts = 0;
    const b = bench(
      streamCollector(async (ctx, emit) => {
        starts++;
        if (starts === 1) for (let i = 0; i < 50_000; i++) emit(EMPTY);
        else emit(EMPTY);
        await abortOf(ctx.signal);
      }),
    );
    await b.timers.advance(1500);
    expect(starts).toBe(2);
    expect(b.readings).toHaveLength(2001);
    expect(b.state.rejected.get("flood")).toBe(1);
    expect(b.logged).toEqual(["flood: more than 2000 readings a second"]);
    await stopNow(b);
  });

  it("starts with a short wait again after it ran well for a minute", async () => {
    const starts: number[] = [];
    const timers = fakeTimers(0);
    const b = bench(
      streamCollector(
        async (_ctx, emit) => {
          starts.push(timers.nowMs());
          if (starts.length < 5) throw new Error("no device yet");
          for (let i = 0; i < 7; i++) {
            emit(EMPTY);
            await new Promise<void>((resolve) => void timers.after(10_000, resolve));
          }
          emit(EMPTY);
          throw new Error("device lost");
        },
        { default_interval_ms: 10_000 },
      ),
      { timers },
    );
    await timers.advance(15_000 + 70_000 + 1000);
    expect(starts).toEqual([0, 1000, 3000, 7000, 15_000, 86_000]);
    await stopNow(b);
  });
});
