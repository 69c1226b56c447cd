import type { Sample } from "../../schemas/samples.js";

/** Counters of a page that only grow while the server lives. */
const GROWING = ["prompt_tokens_total", "generation_tokens_total", "success_total", "process_cpu_s_total"] as const;
const TOKENS = ["prompt_tokens_total", "generation_tokens_total"] as const;
const LEVELS = ["running", "waiting", "kv_usage_ratio"] as const;
/** Engines refresh their gauges once a step; a step never takes this long unless it hangs. */
const STALE_AFTER_US = 10e6;
const STALE_AFTER_PAGES = 5;

interface Seen {
  values: Readonly<Record<string, number>>;
  same_since_us: number;
  same_pages: number;
}

export interface ServerFindings {
  /** Why the server is thought to have restarted since the last page; null when it did not. */
  readonly restarted: string | null;
  /** Keys of engines that show work without a token moving. */
  readonly stale: readonly string[];
}

/** Follows one server's engines from page to page: restarts, and gauges that nobody refreshes any more. */
export class ServerPageWatch {
  readonly #engines = new Map<string, Seen>();

  look(samples: readonly Sample[]): ServerFindings {
    let restarted: string | null = null;
    const stale: string[] = [];
    for (const { entity, values, ts_us } of samples) {
      const before = this.#engines.get(entity.key);
      if (before === undefined) {
        this.#engines.set(entity.key, { values, same_since_us: ts_us, same_pages: 0 });
        continue;
      }
      restarted ??= restartSign(before.values, values);
      if (standsStill(before.values, values)) before.same_pages++;
      else {
        before.same_pages = 0;
        before.same_since_us = ts_us;
      }
      before.values = values;
      if (before.same_pages >= STALE_AFTER_PAGES && ts_us - before.same_since_us >= STALE_AFTER_US) stale.push(entity.key);
    }
    return { restarted, stale };
  }
}

type Values = Readonly<Record<string, number>>;

function restartSign(before: Values, now: Values): string | null {
  const [old, young] = [before.process_start_time_s, now.process_start_time_s];
  if (old !== undefined && young !== undefined && Math.abs(young - old) > 1) return "its process has a new start time";
  const fallen = GROWING.find((name) => (now[name] ?? Number.POSITIVE_INFINITY) < (before[name] ?? Number.NEGATIVE_INFINITY));
  return fallen === undefined ? null : `${fallen} fell from ${before[fallen]} to ${now[fallen]}`;
}

/** Something is in the batch or the queue, and neither gauges nor tokens move. */
function standsStill(before: Values, now: Values): boolean {
  const busy = (now.running ?? 0) + (now.waiting ?? 0) > 0;
  const same = (name: string): boolean => before[name] === now[name];
  return busy && TOKENS.some((name) => now[name] !== undefined) && TOKENS.every(same) && LEVELS.every(same);
}
