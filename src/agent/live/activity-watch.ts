import type { RequestView } from "../../../schemas/requests.js";
import type { Sample } from "../../../schemas/samples.js";

interface ServerState {
  tokens: number;
  finished: number;
  /** Since when requests run and no token is made, µs; NaN while that is not so. */
  still_us: number;
  last_us: number;
}

/** Requests run and no token is made for this long: the diagnosis calls it a hang, so it is worth a look. */
const HANG_US = 5e6;
/** A server that is not heard of any more is not judged by its last word. */
const SILENT_US = 60e6;

const TOKENS = ["generation_tokens_total", "prompt_tokens_total"] as const;
const FINISHED = ["success_total", "e2e_count_total", "ttft_count_total"] as const;

/** Sees what goes to the store, and says whether there is anything new to judge. Costs next to nothing. */
export class ActivityWatch {
  private readonly servers = new Map<string, ServerState>();
  /** Grows whenever a request ended, by its span or by the server's own counters. */
  revision = 0;

  requests(batch: readonly RequestView[]): void {
    if (batch.length > 0) this.revision++;
  }

  samples(batch: readonly Sample[]): void {
    for (const { entity, ts_us, values } of batch) {
      if (entity.kind !== "server") continue;
      const tokens = sum(values, TOKENS);
      const finished = sum(values, FINISHED);
      const key = `${entity.node}\u0000${entity.key}`;
      const known = this.servers.get(key);
      if (!known) {
        this.servers.set(key, { tokens, finished, still_us: Number.NaN, last_us: ts_us });
        continue;
      }
      const stands = tokens === known.tokens && (values.running ?? 0) > 0;
      if (!stands) known.still_us = Number.NaN;
      else if (Number.isNaN(known.still_us)) known.still_us = known.last_us;
      if (finished !== known.finished) this.revision++;
      known.tokens = tokens;
      known.finished = finished;
      known.last_us = ts_us;
    }
  }

  /** True while a server has requests and makes no token for as long as a hang takes. */
  hangs(now_us: number): boolean {
    for (const s of this.servers.values()) if (s.last_us - s.still_us >= HANG_US && now_us - s.last_us < SILENT_US) return true;
    return false;
  }
}

const sum = (values: Sample["values"], names: readonly string[]): number => {
  let total = 0;
  for (const name of names) total += values[name] ?? 0;
  return total;
};
