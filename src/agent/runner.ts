import type { Clock, CollectorContext, Reading } from "../../schemas/collector.js";
import type { Logger } from "../platform/logger.js";
import type { Timers } from "../platform/timers.js";
import type { CollectorState } from "./collector-state.js";

/** A context for one attempt, and what ends everything that the attempt started. */
export interface OwnedContext {
  readonly ctx: CollectorContext;
  /** Kills the child processes that are still there; settles when they are gone or given up. */
  dispose(): Promise<void>;
}

/** What a runner works with. It owns deadlines, back-off, isolation and the state; the collector owns reading. */
export interface RunnerDeps {
  readonly state: CollectorState;
  readonly timeoutMs: number;
  /** A moment of the common tick grid, monotonic ms. */
  readonly alignMs: number;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Logger;
  context(signal: AbortSignal): OwnedContext;
  /** Stores a reading. */
  accept(reading: Reading): void;
}

export interface Runner {
  /** Ends the collector and its child processes. Settles within a few seconds, whatever the collector does. */
  stop(): Promise<void>;
}

/** How long a collector that was told to stop may take before it is left to itself. */
export const STOP_GRACE_MS = 1000;
export const BACKOFF_CAP_MS = 60_000;

/** A reading was taken: the state says so, and the data goes on. */
export function acceptReading(deps: RunnerDeps, reading: Reading): void {
  const { state } = deps;
  deps.accept(reading);
  state.success = true;
  state.lastSuccessUs = deps.clock.wallUs();
  state.samples += reading.samples.length;
  const notice = reading.notice ?? null;
  if (notice !== state.notice && notice !== null) deps.log.warn({ collector: state.name }, notice);
  state.notice = notice;
}

/** An attempt failed. It is logged when it is news, not at every repetition. */
export function noteFailure(deps: RunnerDeps, why: string): void {
  const { state } = deps;
  state.failures++;
  if (state.success !== false || state.lastError !== why) deps.log.warn({ collector: state.name }, why);
  state.success = false;
  state.lastError = why;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
