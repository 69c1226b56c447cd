import { systemTimers, type Timers } from "./timers.js";

export interface Tick {
  /** When this tick was due, monotonic ms: `alignMs + n * intervalMs`. */
  readonly dueMs: number;
  /** Ticks left out since the last one, because the work or the whole process was late. */
  readonly missed: number;
}

export interface PeriodicTask {
  /** No tick starts after this; a run in progress is not waited for. */
  stop(): void;
  /** All ticks left out since the start. */
  readonly missed: number;
}

export interface PeriodicOptions {
  readonly intervalMs: number;
  /** A moment of the grid, monotonic ms: tasks with the same moment tick together. Default: now. */
  readonly alignMs?: number;
  run(tick: Tick): void | Promise<void>;
  /** What a failed run means is the caller's to say; the next tick comes all the same. */
  onError(error: unknown): void;
  readonly timers?: Timers;
}

/**
 * Runs at the points of a fixed grid of the monotonic clock. It never drifts, never runs twice at once, and leaves out the
 * points that it misses instead of catching up.
 */
export function startPeriodic(options: PeriodicOptions): PeriodicTask {
  const timers = options.timers ?? systemTimers;
  const { intervalMs } = options;
  if (!(intervalMs > 0)) throw new Error(`an interval must be positive, not ${intervalMs} ms`);
  const align = options.alignMs ?? timers.nowMs();
  let nextIndex = Math.ceil((timers.nowMs() - align) / intervalMs - 1e-6);
  let busy = false;
  let stopped = false;
  let missedAll = 0;
  let missedSince = 0;
  let cancel = (): void => {};

  const arm = (): void => {
    if (!stopped) cancel = timers.after(align + nextIndex * intervalMs - timers.nowMs(), fire);
  };
  const fire = (): void => {
    const now = timers.nowMs();
    // Timers may come early by a fraction of a millisecond; the grid point is what counts.
    const current = Math.max(nextIndex, Math.floor((now - align) / intervalMs + 1e-6));
    missedSince += current - nextIndex;
    missedAll += current - nextIndex;
    nextIndex = current + 1;
    if (busy) {
      missedSince++;
      missedAll++;
    } else void runOnce({ dueMs: align + current * intervalMs, missed: missedSince });
    arm();
  };
  const runOnce = async (tick: Tick): Promise<void> => {
    busy = true;
    missedSince = 0;
    try {
      await options.run(tick);
    } catch (error) {
      options.onError(error);
    } finally {
      busy = false;
    }
  };
  arm();
  return {
    stop() {
      stopped = true;
      cancel();
    },
    get missed() {
      return missedAll;
    },
  };
}
