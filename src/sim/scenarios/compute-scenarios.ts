import { fault, type NamedScenario, onA, onB } from "./named-scenario.js";

/** Long prompts without chunking: every running answer stands still while one is computed. */
const longPrompts = [fault("long_prompts", 30, 95, 30_000, { rate_per_s: 0.06 })];
const unchunked = { chunked_prefill: false } as const;
const burst = [fault("arrival_burst", 40, 55, 3.4)];

export const COMPUTE_SCENARIOS: readonly NamedScenario[] = [
  onA(
    "1",
    "a 30k prompt every 17 s, chunked prefill off",
    longPrompts,
    { classes: ["compute"], causes: ["prefill-interference"] },
    { server: unchunked },
  ),
  onA("2", "the arrival rate more than triples for 15 s", burst, { classes: ["compute"], causes: ["burst-saturation"] }),
  onA(
    "3",
    "heat lowers the SM clock in three stages (a clock of 0.70 alone makes no request slow by 100 ms, so it goes down to 0.40)",
    [fault("thermal", 35, 90, 0.7), fault("thermal", 45, 90, 0.5), fault("thermal", 55, 85, 0.4)],
    { classes: ["compute"], causes: ["thermal"] },
    { seconds: 130 },
  ),
  onA(
    "4",
    "a power cap from the middle of the run on",
    [fault("power_cap", 70, 200, 0.4)],
    { classes: ["compute"], causes: ["power-cap"] },
    { seconds: 140 },
  ),
  onB("22", "one GPU of four is throttled by heat", [fault("thermal", 45, 75, 0.3, { rank: 2 })], {
    classes: ["compute"],
    causes: ["straggler-throttled", "thermal"],
  }),
  onA(
    "24",
    "as 1, telemetry every 30 s",
    longPrompts,
    { classes: ["compute", "indeterminate"], max_confidence: 0.85 },
    { server: unchunked, watch: { interval_s: 30 } },
  ),
  onA(
    "26",
    "as 2, telemetry stamped in another zone and 1.2 s late",
    burst,
    { classes: ["compute"], causes: ["burst-saturation"] },
    { watch: { telemetry_offset_s: 3600, lag_s: 1.2 } },
  ),
  onA(
    "29",
    "a KV tier keeps the pool full on purpose; a long prompt is the cause",
    longPrompts,
    { classes: ["compute"], causes: ["prefill-interference"], never: ["kv_cache"] },
    { server: { ...unchunked, kv_tier: true } },
  ),
  onA(
    "remote-prefill",
    "the other data-parallel rank computes long prompts",
    [fault("remote_prefill", 45, 60, 14_000, { rate_per_s: 0.9 })],
    { classes: ["compute"] },
    { server: { dp_peer: true } },
  ),
];
