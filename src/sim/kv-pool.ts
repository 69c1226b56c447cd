import { KV_BLOCK_TOKENS } from "./scenario.js";

/** Blocks of the KV cache. Parked sessions (a fault) take blocks as they come free and never from a running request. */
export class KvPool {
  used = 0;
  pinned = 0;

  constructor(readonly total: number) {}

  get free(): number {
    return this.total - this.used - this.pinned;
  }

  get usage(): number {
    return (this.used + this.pinned) / this.total;
  }

  setPinned(share: number): void {
    const target = Math.floor(share * this.total);
    this.pinned = Math.max(0, Math.min(target, this.total - this.used));
  }

  static blocksFor(tokens: number): number {
    return Math.ceil(tokens / KV_BLOCK_TOKENS);
  }

  /** Grows a holding to what `tokens` need; false when there is no room (nothing is taken then). */
  grow(holder: { blocks: number }, tokens: number): boolean {
    const more = KvPool.blocksFor(tokens) - holder.blocks;
    if (more <= 0) return true;
    if (more > this.free) return false;
    this.used += more;
    holder.blocks += more;
    return true;
  }

  release(holder: { blocks: number }): void {
    this.used -= holder.blocks;
    holder.blocks = 0;
  }
}
