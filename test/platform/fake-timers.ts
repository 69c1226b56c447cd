import type { Timers } from "../../src/platform/timers.js";

export interface FakeTimers extends Timers {
  /** Moves time on, firing what becomes due in order; promises settle between the callbacks. */
  advance(ms: number): Promise<void>;
  /** Moves time on without firing anything: a process that was stopped. */
  stall(ms: number): void;
  readonly pending: number;
}

export function fakeTimers(startMs = 1000): FakeTimers {
  let now = startMs;
  let order = 0;
  let waiting: { at: number; order: number; callback: () => void }[] = [];
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    nowMs: () => now,
    after(delayMs, callback) {
      const entry = { at: now + Math.max(0, delayMs), order: order++, callback };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settle();
        const due = waiting.filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at || a.order - b.order)[0];
        if (!due) break;
        now = Math.max(now, due.at);
        waiting = waiting.filter((other) => other !== due);
        due.callback();
      }
      now = Math.max(now, end);
      await settle();
    },
    stall(ms) {
      now += ms;
    },
    get pending() {
      return waiting.length;
    },
  };
}
