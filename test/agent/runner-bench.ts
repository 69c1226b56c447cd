import type { Collector, CollectorContext, PollCollector, Reading, StreamCollector } from "../../schemas/collector.js";
import { type CollectorState, newCollectorState } from "../../src/agent/collector-state.js";
import { startPollRunner } from "../../src/agent/poll-runner.js";
import type { Runner, RunnerDeps } from "../../src/agent/runner.js";
import { startStreamRunner } from "../../src/agent/stream-runner.js";
import { createLogger } from "../../src/platform/logger.js";
import { type FakeTimers, fakeTimers } from "../platform/fake-timers.js";

export interface Bench {
  readonly timers: FakeTimers;
  readonly state: CollectorState;
  readonly readings: { at: number; reading: Reading }[];
  readonly logged: string[];
  disposed: number;
  readonly runner: Runner;
}

/** Runs one collector on a fake clock that starts at 0. */
export function bench(collector: Collector, options: { timers?: FakeTimers; timeoutMs?: number } = {}): Bench {
  const timers = options.timers ?? fakeTimers(0);
  const state = newCollectorState(collector.name, collector.mode, collector.default_interval_ms);
  const readings: Bench["readings"] = [];
  const logged: string[] = [];
  const self = { timers, state, readings, logged, disposed: 0 };
  const clock = { wallUs: () => 1_700_000_000_000_000 + timers.nowMs() * 1000, monoUs: () => timers.nowMs() * 1000, epoch: () => 0 };
  const deps: RunnerDeps = {
    state,
    timeoutMs: options.timeoutMs ?? collector.default_timeout_ms,
    alignMs: 0,
    timers,
    clock,
    log: createLogger({ level: "info", write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) }),
    context: (signal) => ({
      ctx: { signal, clock } as unknown as CollectorContext,
      dispose: async () => {
        self.disposed++;
      },
    }),
    accept: (reading) => readings.push({ at: timers.nowMs(), reading }),
  };
  const runner = collector.mode === "poll" ? startPollRunner(collector, deps) : startStreamRunner(collector, deps);
  return Object.assign(self, { runner });
}

export const times = (b: Bench): number[] => b.readings.map((r) => r.at);
export const EMPTY: Reading = { samples: [] };

export const pollCollector = (poll: (ctx: CollectorContext) => Promise<Reading>, over: Partial<PollCollector> = {}): PollCollector => ({
  name: "fake-poll",
  kinds: ["host"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 500,
  window_ms: null,
  lag_ms: null,
  detect: async () => ({ found: true, text: "here" }),
  start: () => ({ poll }),
  ...over,
});

export const streamCollector = (stream: StreamCollector["stream"], over: Partial<StreamCollector> = {}): StreamCollector => ({
  name: "fake-stream",
  kinds: ["gpu"],
  mode: "stream",
  default_interval_ms: 1000,
  default_timeout_ms: 500,
  window_ms: null,
  lag_ms: null,
  silent_after_intervals: 3,
  detect: async () => ({ found: true, text: "here" }),
  stream,
  ...over,
});

export const never = <T>(): Promise<T> => new Promise<T>(() => {});
export const abortOf = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => void signal.addEventListener("abort", () => resolve()));

/** Stops the runner while its clock goes on. */
export async function stopNow(b: Bench): Promise<void> {
  const stopped = b.runner.stop();
  await b.timers.advance(5000);
  await stopped;
}
