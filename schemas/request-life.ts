import type { Episode, Metric, Phase } from "./report.js";

/** A latency of one request against what its own work explains at the run's usual load. Null = not measured, or nothing to compare. */
export interface LifeMetric {
  readonly metric: Metric;
  readonly observed_ms: number;
  readonly expected_ms: number | null;
  readonly slow: boolean;
}

/** A part of the request's life. `start_ms` counts from when it was sent. */
export interface LifePhase {
  readonly phase: Phase | "first_token";
  readonly start_ms: number;
  readonly observed_ms: number;
  readonly expected_ms: number | null;
}

/** Something that ran beside the request, over its life. */
export interface LifeLoad {
  readonly what: string;
  readonly unit: "requests" | "tokens" | "ratio";
  readonly mean: number;
  readonly most: number;
  /** Its mean over the run, or its median outside of incidents; null when unknown. */
  readonly usual: number | null;
}

/** Another request whose prompt was computed while this one ran. */
export interface LifePrefill {
  readonly request_id: string;
  readonly tokens: number | null;
  readonly overlap_ms: number;
}

/** One request's life (`correlate --explain REQUEST --json`). Times are ISO 8601 UTC. */
export interface RequestLife {
  readonly schema: "whyslow.request/v1";
  readonly request_id: string;
  readonly server: string | null;
  readonly model: string | null;
  readonly status: string;
  readonly slow: boolean;
  /** The latencies are lower bounds: cancelled, timed out or still open. */
  readonly censored: boolean;
  readonly sent: string;
  readonly end: string | null;
  readonly tokens: { readonly input: number | null; readonly cached: number | null; readonly output: number | null };
  readonly metrics: readonly LifeMetric[];
  readonly phases: readonly LifePhase[];
  readonly beside: readonly LifeLoad[];
  /** Requests that waited for their first token when this one arrived. */
  readonly ahead: number;
  /** Prefills of others that overlapped its life, the longest first; `total` counts those not listed too. Null when they could not be placed. */
  readonly prefills: { readonly total: number; readonly tokens: number; readonly longest: readonly LifePrefill[] } | null;
  /** Episodes that hold the request, with all their evidence. */
  readonly episodes: readonly Episode[];
  /** Episodes of its server that it ran through without being slow. */
  readonly passed: readonly string[];
}
