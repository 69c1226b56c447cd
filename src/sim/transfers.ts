import { conditionsAt } from "./conditions.js";
import { MODELS } from "./hardware.js";
import type { Fault, ServerOptions } from "./scenario.js";
import { SignalHistory } from "./signal-history.js";

/** KV of prompts that another instance computed, coming over one NIC, one after another. */
export class Transfers {
  /** Bytes per second over the NIC. */
  readonly rate = new SignalHistory(1);
  private free_us = 0;

  constructor(
    private readonly server: ServerOptions,
    private readonly faults: readonly Fault[],
    readonly bytes_per_s: number,
  ) {}

  /** When the KV of a prompt that was computed at `at_us` is there. */
  ready(at_us: number, prompt_tokens: number): number {
    const start = Math.max(at_us, this.free_us);
    const speed = this.bytes_per_s * conditionsAt(this.faults, this.server, start).nic_share;
    const bytes = prompt_tokens * MODELS[this.server.model].kv_bytes_per_token;
    const end = start + (bytes / speed) * 1e6;
    this.rate.push(start, [0]);
    this.rate.push(end, [speed]);
    this.free_us = end;
    return end;
  }
}
