export interface Backoff {
  /** The wait before the next try, in ms, after one more failure. */
  failed(): number;
  succeeded(): void;
}

/** Doubles from `firstMs` to `capMs` while failures follow each other; a success starts it anew. */
export function createBackoff(firstMs: number, capMs: number): Backoff {
  let failures = 0;
  return {
    failed: () => Math.min(Math.max(capMs, firstMs), firstMs * 2 ** Math.min(failures++, 30)),
    succeeded() {
      failures = 0;
    },
  };
}
