import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ThreadTracker } from "../../collectors/parts/thread-tracker.js";

/** A process made of files, whose threads use the CPU that a test says. */
class FakeProcess {
  private readonly threads = new Map<number, { run: number; wait: number }>();
  private endedRunS = 0;
  constructor(readonly folder: string) {
    mkdirSync(join(folder, "task"), { recursive: true });
  }
  use(tid: number, runS: number, waitS = 0): void {
    const before = this.threads.get(tid) ?? { run: 0, wait: 0 };
    const now = { run: before.run + runS, wait: before.wait + waitS };
    this.threads.set(tid, now);
    mkdirSync(join(this.folder, "task", String(tid)), { recursive: true });
    writeFileSync(join(this.folder, "task", String(tid), "schedstat"), `${Math.round(now.run * 1e9)} ${Math.round(now.wait * 1e9)} 1\n`);
  }
  end(tid: number): void {
    this.endedRunS += this.threads.get(tid)?.run ?? 0;
    this.threads.delete(tid);
    rmSync(join(this.folder, "task", String(tid)), { recursive: true });
  }
  get stat(): { cpu_s: number; threads: number } {
    return { cpu_s: this.endedRunS + [...this.threads.values()].reduce((sum, t) => sum + t.run, 0), threads: this.threads.size };
  }
}

describe("ThreadTracker", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "whyslow-threads-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("finds a thread that becomes busy among many that sleep, in the same reading", () => {
    const process = new FakeProcess(folder);
    for (let tid = 1; tid <= 120; tid++) process.use(tid, 0.001);
    const tracker = new ThreadTracker(folder);
    expect(tracker.update(0, process.stat, 2, 4)).toEqual({ hottest_cores: null, hottest_tid: null, wait_s: 0 });
    process.use(110, 0.9);
    const first = tracker.update(1e6, process.stat, 2, 4);
    expect(first.hottest_tid).toBe(110);
    expect(first.hottest_cores).toBeCloseTo(0.9, 6);
    process.use(110, 0.5);
    expect(tracker.update(2e6, process.stat, 2, 4).hottest_cores).toBeCloseTo(0.5, 6);
  });

  it("never calls a thread busier than the CPU that nothing else explains", () => {
    const process = new FakeProcess(folder);
    for (let tid = 1; tid <= 20; tid++) process.use(tid, 0.001);
    const tracker = new ThreadTracker(folder);
    tracker.update(0, process.stat, 1, 1);
    // Thread 20 works a little in each second before its turn comes: by then 2 s together, but not in the last second.
    for (let s = 1; s <= 25; s++) {
      process.use(20, 0.1);
      const { hottest_cores } = tracker.update(s * 1e6, process.stat, 1, 1);
      expect(hottest_cores ?? 0).toBeLessThan(0.11);
    }
  });

  it("keeps the waiting of threads that ended and counts threads that were born", () => {
    const process = new FakeProcess(folder);
    process.use(1, 1, 0.5);
    process.use(2, 1, 0.25);
    const tracker = new ThreadTracker(folder);
    expect(tracker.update(0, process.stat, 4, 8).wait_s).toBeCloseTo(0.75, 9);
    process.end(2);
    process.use(3, 0.2, 0.125);
    expect(tracker.update(3e6, process.stat, 4, 8).wait_s).toBeCloseTo(0.75, 9);
    expect(tracker.update(18e6, process.stat, 4, 8).wait_s).toBeCloseTo(0.875, 9);
  });

  it("agrees with reading every thread when it may read them all", () => {
    const work = fc.array(fc.record({ tid: fc.integer({ min: 1, max: 5 }), run: fc.integer({ min: 0, max: 900 }), wait: fc.nat(500) }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(fc.array(work, { minLength: 1, maxLength: 4 }), (seconds) => {
        rmSync(folder, { recursive: true, force: true });
        const process = new FakeProcess(folder);
        for (let tid = 1; tid <= 5; tid++) process.use(tid, 0.001);
        const tracker = new ThreadTracker(folder);
        tracker.update(0, process.stat, 8, 8);
        let waitS = 0;
        seconds.forEach((second, i) => {
          const run = new Map<number, number>();
          for (const { tid, run: r, wait } of second) {
            process.use(tid, r / 1000, wait / 1000);
            run.set(tid, (run.get(tid) ?? 0) + r / 1000);
            waitS += wait / 1000;
          }
          const reading = tracker.update((i + 1) * 1e6, process.stat, 8, 8);
          expect(reading.hottest_cores).toBeCloseTo(Math.max(0, ...run.values()), 6);
          expect(reading.wait_s).toBeCloseTo(waitS, 6);
        });
      }),
      { numRuns: 12 },
    );
  });
});
