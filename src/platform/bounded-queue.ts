/** A first-in first-out queue that refuses what does not fit, and counts it. */
export interface BoundedQueue<T> {
  readonly size: number;
  readonly capacity: number;
  /** How many items were refused since the start. */
  readonly refused: number;
  /** False when the item does not fit. `weight` is in the unit of the capacity (items by default; bytes where given). */
  push(item: T, weight?: number): boolean;
  shift(): T | undefined;
  /** Takes all that waits, oldest first. */
  drain(): T[];
}

/** A queue whose items together weigh at most `capacity`; one item heavier than that is taken when the queue is empty. */
export function createBoundedQueue<T>(capacity: number): BoundedQueue<T> {
  let items: { item: T; weight: number }[] = [];
  let head = 0;
  let size = 0;
  let refused = 0;
  return {
    get size() {
      return size;
    },
    capacity,
    get refused() {
      return refused;
    },
    push(item, weight = 1) {
      if (size > 0 && size + weight > capacity) {
        refused++;
        return false;
      }
      items.push({ item, weight });
      size += weight;
      return true;
    },
    shift() {
      const first = items[head];
      if (!first) return undefined;
      head++;
      size -= first.weight;
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return first.item;
    },
    drain() {
      const all = items.slice(head).map((entry) => entry.item);
      items = [];
      head = 0;
      size = 0;
      return all;
    },
  };
}
