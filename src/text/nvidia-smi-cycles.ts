/** How often a key may be absent before a cycle no longer waits for it. */
const MISSES_BEFORE_FORGOTTEN = 3;

export interface CycleGrouper<T> {
  /** Adds a row; returns the cycles that it completed, oldest first (none, one, or two). */
  push(key: string, time_us: number, row: T): readonly (readonly T[])[];
  /** The rows of the cycle that was cut off, if any. */
  flush(): readonly T[];
}

/**
 * Groups the rows of a loop into cycles: nvidia-smi prints one row a GPU and no separator, in any order. A cycle ends when every
 * GPU of the cycles before is there, when a GPU appears again, or when a row's time is `gap_us` after the row before.
 */
export const createCycleGrouper = <T>(gap_us: number): CycleGrouper<T> => {
  const misses = new Map<string, number>();
  let rows = new Map<string, T>();
  let last = 0;

  const close = (): readonly T[] => {
    for (const key of rows.keys()) misses.set(key, 0);
    for (const [key, times] of misses) {
      if (rows.has(key)) continue;
      if (times + 1 >= MISSES_BEFORE_FORGOTTEN) misses.delete(key);
      else misses.set(key, times + 1);
    }
    const done = [...rows.values()];
    rows = new Map();
    return done;
  };

  return {
    push(key, time_us, row) {
      const done: (readonly T[])[] = [];
      if (rows.size > 0 && (rows.has(key) || Math.abs(time_us - last) >= gap_us)) done.push(close());
      rows.set(key, row);
      last = time_us;
      if (misses.size > 0 && [...misses.keys()].every((k) => rows.has(k))) done.push(close());
      return done;
    },
    flush: close,
  };
};
