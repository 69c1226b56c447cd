import type { Reading, StreamCollector } from "../../schemas/collector.js";
import { createBackoff } from "../platform/backoff.js";
import { withDeadline } from "../platform/timers.js";
import { countRejected } from "./collector-state.js";
import { acceptReading, BACKOFF_CAP_MS, messageOf, noteFailure, type Runner, type RunnerDeps, STOP_GRACE_MS } from "./runner.js";

/** The first reading of a program that initialises a driver may take this long. */
const FIRST_READING_MS = 15_000;
/** A shorter silence than this is no sign of anything, however short the interval. */
const SILENCE_FLOOR_MS = 2000;
const FIRST_BACKOFF_MS = 1000;
/** A stream that ran for this long has earned a fresh back-off. */
const STEADY_MS = 60_000;
/** Readings a second beyond which a stream floods; at 10 Hz and 16 GPUs there are 160. */
const MAX_READINGS_PER_S = 2000;

/**
 * Keeps a stream running: restarts it with back-off when it ends, fails, floods, or gives no reading for
 * `silent_after_intervals`. Readings of an attempt that was given up are ignored.
 */
export function startStreamRunner(collector: StreamCollector, deps: RunnerDeps): Runner {
  const { state, timers } = deps;
  const backoff = createBackoff(FIRST_BACKOFF_MS, BACKOFF_CAP_MS);
  const silentMs = Math.max(collector.silent_after_intervals * state.intervalMs, SILENCE_FLOOR_MS);
  let stopped = false;
  let interrupt = (): void => {};

  /** Runs the stream once; gives why it ended. */
  const runOnce = async (): Promise<string> => {
    const controller = new AbortController();
    const { ctx, dispose } = deps.context(controller.signal);
    let over = false;
    let cancelWatch = (): void => {};
    let endWith: (why: string) => void = () => {};
    const ended = new Promise<string>((resolve) => {
      endWith = resolve;
    });
    interrupt = () => endWith("stopped");
    const begin = timers.nowMs();
    let lastReading: number | null = null;
    let windowStart = begin;
    let inWindow = 0;

    const watch = (): void => {
      const limit = lastReading === null ? Math.max(silentMs, FIRST_READING_MS) : silentMs;
      const left = (lastReading ?? begin) + limit - timers.nowMs();
      if (left > 0) cancelWatch = timers.after(left, watch);
      else {
        state.timeouts++;
        endWith(`silent: no reading for ${Math.round(limit / 100) / 10} s`);
      }
    };
    const emit = (reading: Reading): void => {
      if (over) return;
      const now = timers.nowMs();
      if (now - windowStart >= 1000) {
        windowStart = now;
        inWindow = 0;
      }
      if (++inWindow > MAX_READINGS_PER_S) {
        over = true;
        countRejected(state, "flood", 1);
        endWith(`flood: more than ${MAX_READINGS_PER_S} readings a second`);
        return;
      }
      const isFirst = lastReading === null;
      lastReading = now;
      if (isFirst) {
        cancelWatch();
        watch();
      }
      if (now - begin > STEADY_MS) backoff.succeeded();
      acceptReading(deps, reading);
    };

    state.attempts++;
    watch();
    const work = (async (): Promise<string> => {
      try {
        await collector.stream(ctx, emit);
        return "the stream ended";
      } catch (error) {
        return messageOf(error);
      }
    })();
    const why = await Promise.race([work, ended]);
    over = true;
    cancelWatch();
    controller.abort();
    await withDeadline(work, STOP_GRACE_MS, undefined, timers);
    await dispose();
    return why;
  };

  const loop = async (): Promise<void> => {
    while (!stopped) {
      const why = await runOnce();
      if (stopped) return;
      noteFailure(deps, why);
      await new Promise<void>((resolve) => {
        const cancel = timers.after(backoff.failed(), resolve);
        interrupt = () => {
          cancel();
          resolve();
        };
      });
      if (!stopped) state.restarts++;
    }
  };
  const running = loop();
  return {
    async stop() {
      stopped = true;
      interrupt();
      await withDeadline(running, 3 * STOP_GRACE_MS, undefined, timers);
    },
  };
}
