import { fault, type NamedScenario, onA } from "./named-scenario.js";

const SMALL_POOL = { kv_tokens: 60_000 } as const;
const held = fault("kv_sessions", 40, 54, 4, { prompt_tokens: 12_000 });
const storm = [fault("long_outputs", 40, 52, 1.7)];
/** A tighter limit than the pool: 16 sequences use half of it. */
const overload = [fault("admission_limit", 40, 56, 2.6)];

export const MEMORY_SCENARIOS: readonly NamedScenario[] = [
  onA("5", "up to 130 more sequences of 1.7k context decode along", [fault("batch_growth", 40, 90, 130, { token_us: 40_000 })], {
    classes: ["bandwidth"],
    causes: ["batch-growth", "overload", "long-context"],
  }),
  onA("6", "sessions of 12k context decode along", [fault("context_growth", 40, 75, 26, { prompt_tokens: 12_000 })], {
    classes: ["bandwidth"],
    causes: ["long-context", "batch-growth"],
  }),
  onA(
    "7",
    "a pool of 60k tokens, held by sessions of 12k",
    [held],
    { classes: ["kv_cache"], causes: ["admission-blocked", "preemption-storm"] },
    { server: SMALL_POOL },
  ),
  onA("7b", "the whole pool filled by sessions of 11k", [fault("kv_sessions", 40, 56, 39, { prompt_tokens: 11_000 })], {
    classes: ["kv_cache"],
  }),
  onA(
    "8",
    "a pool of 60k tokens and outputs longer than planned",
    storm,
    { classes: ["kv_cache"], causes: ["preemption-storm", "admission-blocked"] },
    {
      server: SMALL_POOL,
    },
  ),
  onA(
    "9",
    "other tenants evict a shared prefix",
    [fault("prefix_thrash", 40, 62, 0.2), fault("kv_full", 40, 62, 0.72)],
    { classes: ["kv_cache"], causes: ["prefix-thrash"] },
    { load: { rate_per_s: 4, prompt_median: 6500, prompt_sigma: 0.3, cached_share: 0.8, output_median: 120 } },
  ),
  onA(
    "17",
    "overload against max_num_seqs 16: the pool is half empty",
    overload,
    { classes: ["bandwidth", "compute", "indeterminate"], never: ["kv_cache"] },
    { server: { max_num_seqs: 16 }, load: { rate_per_s: 4 } },
  ),
  onA(
    "18",
    "as 7, with a burst of arrivals",
    [held, fault("arrival_burst", 41, 50, 2)],
    { classes: ["kv_cache", "compute"] },
    { server: SMALL_POOL },
  ),
  onA(
    "25",
    "as 8, no server metrics",
    storm,
    { classes: ["indeterminate", "kv_cache"], never: ["compute"], never_above: 0.6 },
    { server: SMALL_POOL, watch: { server: false } },
  ),
  onA(
    "admission-limit",
    "as 17: the limit itself is named",
    overload,
    { classes: ["indeterminate"], causes: ["admission-limit"] },
    { server: { max_num_seqs: 16 }, load: { rate_per_s: 4 } },
  ),
];
