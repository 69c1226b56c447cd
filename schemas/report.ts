import { z } from "zod";

/** The report, version 1 (`whyslow.report/v1`). Fields may be added; none is renamed or removed. Times: ISO 8601 UTC with µs. */
export const CLASSES = ["compute", "bandwidth", "kv_cache", "cpu_tokenization", "communication", "indeterminate"] as const;
export const RESOURCE_CLASSES = CLASSES.slice(0, 5) as readonly ResourceClass[];
export type VerdictClass = (typeof CLASSES)[number];
export type ResourceClass = Exclude<VerdictClass, "indeterminate">;

export const METRICS = ["ttft", "itl", "tpot", "e2e", "queue"] as const;
export type Metric = (typeof METRICS)[number];

export const PHASES = [
  "client_lag",
  "network",
  "gateway",
  "upstream",
  "tokenize",
  "ingress",
  "queue",
  "prefill",
  "transfer",
  "decode",
  "stall",
  "unattributed",
] as const;
export type Phase = (typeof PHASES)[number];

export const REASONS = [
  "WARMUP",
  "NO_TELEMETRY",
  "CLOCK_UNCERTAIN",
  "LOW_COVERAGE",
  "CLIENT_SIDE",
  "SHARED_GPU",
  "AMBIGUOUS_SERVER",
  "UNMEASURED_RIVAL",
  "TIE",
  "NO_CLASS_SUPPORT",
] as const;
export type Reason = (typeof REASONS)[number];

const iso = z.string();
const classCounts = z.record(z.enum(CLASSES), z.number());
const percentiles = z.object({
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
  mean: z.number().nullable(),
  max: z.number().nullable(),
  n: z.number(),
});

export const evidenceSchema = z.object({
  fact: z.string(),
  value: z.number().nullable(),
  expected: z.number().nullable(),
  window: z.tuple([iso, iso]),
  quality: z.number(),
  /** Nats towards the episode's own class (for `indeterminate`: the leading candidate), after explaining-away. */
  weight_nats: z.number(),
  source: z.string(),
  /** Nats per class, where the fact speaks of several. */
  nats: z.partialRecord(z.enum(CLASSES), z.number()).optional(),
  /** The same in plain words. */
  text: z.string().optional(),
});
export type Evidence = z.infer<typeof evidenceSchema>;

export const episodeSchema = z.object({
  id: z.string(),
  start: iso,
  end: iso,
  metric: z.enum(METRICS),
  requests: z.number(),
  excess_ms: z.number(),
  class: z.enum(CLASSES),
  cause: z.string().nullable(),
  driver: z.enum(["workload", "degradation", "mixed"]).nullable(),
  confidence: z.number().nullable(),
  band: z.enum(["high", "medium", "low"]).nullable(),
  runner_up: z.object({ class: z.enum(CLASSES), confidence: z.number(), separated_by: z.string() }).nullable(),
  phases: z.partialRecord(z.enum(PHASES), z.number()),
  evidence: z.array(evidenceSchema),
  /** Facts that could have spoken and had no input. */
  missing: z.array(z.string()),
  kind: z.enum(["other", "unknown"]).nullable(),
  reason: z.enum(REASONS).nullable(),
  basis: z.enum(["requests", "histogram", "telemetry"]),
  confidence_basis: z.enum(["simulated", "recorded"]),
  caused_by: z.array(z.object({ what: z.string(), share: z.number() })),
  remedy: z.object({ text: z.string(), addresses_ms: z.number() }).nullable(),
  prior_nats: z.number().nullable(),
  score_nats: z.number().nullable(),
  mixed: z.string().nullable().optional(),
  caps: z.array(z.string()).optional(),
  measure_next: z.string().nullable().optional(),
  server: z.string().nullable().optional(),
  level_shift: z.boolean().optional(),
  /** The last change of the server or its node just before the episode: a restart, an XID, a power limit, a user's mark. */
  after_mark: z.object({ kind: z.string(), text: z.string(), time: iso, before_ms: z.number() }).nullable().optional(),
});
export type Episode = z.infer<typeof episodeSchema>;

export const spikeSchema = z.object({
  request_id: z.string(),
  metric: z.enum(METRICS),
  start: iso,
  end: iso,
  observed_ms: z.number(),
  expected_ms: z.number(),
  excess_ms: z.number(),
  class: z.enum(CLASSES),
  cause: z.string().nullable(),
  confidence: z.number().nullable(),
  episode: z.string().nullable(),
  censored: z.boolean(),
});
export type Spike = z.infer<typeof spikeSchema>;

export const reportSchema = z.object({
  schema: z.literal("whyslow.report/v1"),
  run: z.object({ id: z.string(), start: iso.nullable(), end: iso.nullable(), manifest: z.record(z.string(), z.string()) }),
  data: z.object({
    requests: z.number(),
    sources: z.array(
      z.object({
        source: z.string(),
        entity_kind: z.string(),
        entities: z.number(),
        samples: z.number(),
        interval_ms: z.number().nullable(),
        window_ms: z.number().nullable(),
        lag_ms: z.number().nullable(),
        /** Where the lag was measured: how well the readings follow the load of the requests at this lag. */
        lag_rho: z.number().optional(),
        coverage: z.number(),
        rejected: z.number().optional(),
      }),
    ),
    clock: z.object({ offset_ms: z.number().nullable(), uncertainty_ms: z.number().nullable(), method: z.string() }),
    warnings: z.array(z.object({ code: z.string(), text: z.string() })),
    missing: z.array(z.string()),
    /** The run that this one was judged against, where one was given. */
    baseline: z.string().optional(),
    /** How many requests both a client and a server saw. */
    joined: z.number().optional(),
  }),
  summary: z.object({
    ttft_ms: percentiles,
    itl_ms: percentiles,
    tpot_ms: percentiles,
    e2e_ms: percentiles,
    queue_ms: percentiles,
    spikes: z.object({ total: z.number(), by_class: classCounts }),
    bottleneck: z.object({ by_class: classCounts, class: z.enum(CLASSES).nullable(), confidence: z.number().nullable() }),
  }),
  episodes: z.array(episodeSchema),
  spikes: z.array(spikeSchema),
});
export type Report = z.infer<typeof reportSchema>;
