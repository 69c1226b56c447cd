/** Monotonic time and one-shot timers, as one thing so that tests can drive both. */
export interface Timers {
  /** Monotonic milliseconds; only differences mean anything. */
  nowMs(): number;
  /** Calls back once after `delayMs`; gives what cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The process's own timers. */
export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};

/** Settles as `work` does, or resolves to `otherwise` after `ms`. The work is not stopped: that is the caller's. */
export async function withDeadline<T, U>(work: Promise<T>, ms: number, otherwise: U, timers: Timers = systemTimers): Promise<T | U> {
  let cancel = (): void => {};
  const late = new Promise<U>((resolve) => {
    cancel = timers.after(ms, () => resolve(otherwise));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
