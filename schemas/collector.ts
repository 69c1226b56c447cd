import type { EntityKind } from "./columns/index.js";
import type { Sample, SeriesSample } from "./samples.js";
import type { Mark } from "./telemetry.js";

export interface Clock {
  /** Wall clock, integer µs since the Unix epoch. */
  wallUs(): number;
  /** Monotonic clock, µs; only differences mean anything. */
  monoUs(): number;
  /** Clock epoch: grows by one when wall minus monotonic moved by more than 50 ms. */
  epoch(): number;
}

/** External programs are named by us, never by configuration text or the network. */
export type Program = "nvidia-smi" | "stdbuf";

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when it was killed or could not start. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The program is not installed. */
  readonly notFound: boolean;
}

export interface LineStream {
  /** Complete lines with the wall time of their arrival. Ends when the program ends or is killed. */
  readonly lines: AsyncIterable<{ readonly text: string; readonly received_us: number }>;
  /** Settles when the program has ended, whatever the way. Never rejects. */
  readonly ended: Promise<CommandResult>;
  /** Kills the whole process group; settles when it is gone or given up. */
  kill(): Promise<void>;
}

export interface HttpResult {
  readonly status: number;
  readonly body: string;
  /** The body ended before it was whole, or was cut at the size limit: drop its last line. */
  readonly truncated: boolean;
  readonly start_us: number;
  readonly end_us: number;
  readonly duration_ms: number;
}

export interface CollectorLog {
  debug(fields: Readonly<Record<string, unknown>>, text: string): void;
  info(fields: Readonly<Record<string, unknown>>, text: string): void;
  warn(fields: Readonly<Record<string, unknown>>, text: string): void;
}

/** An inference server that discovery or the configuration named. */
export interface ServerTarget {
  readonly name: string;
  /** Base URL of the server, without a path. */
  readonly url: string;
  readonly metrics_path: string;
  readonly engine: string | null;
  /** Process ids that belong to it; empty when unknown. */
  readonly pids: readonly number[];
}

/** All that a collector may touch. Deadlines, retries, isolation and self-metrics are the runner's. */
export interface CollectorContext {
  readonly node: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: CollectorLog;
  readonly roots: { readonly proc: string; readonly sys: string };
  readonly interval_ms: number;
  readonly timeout_ms: number;
  /** Base URL of this collector's target, for HTTP collectors. */
  readonly url: string | null;
  readonly servers: readonly ServerTarget[];
  /** Runs a program to its end. Never rejects for the program's sake. */
  run(program: Program, args: readonly string[], options?: { timeout_ms?: number }): Promise<CommandResult>;
  /** Starts a long-lived program and reads its lines. */
  stream(program: Program, args: readonly string[]): LineStream;
  /** GET with this collector's deadline. Rejects on connection failure or timeout. */
  http(url: string, options?: { timeout_ms?: number; accept?: string; max_bytes?: number }): Promise<HttpResult>;
}

export interface Reading {
  readonly samples: readonly Sample[];
  readonly series?: readonly SeriesSample[];
  readonly marks?: readonly Mark[];
  /** Facts for the manifest (driver version, GPU model, engine version, …). */
  readonly manifest?: Readonly<Record<string, string>>;
  /** Refused rows or values by reason. */
  readonly rejected?: Readonly<Record<string, number>>;
  /** A state that an operator should know, e.g. `profiling fields absent`; null or absent when all is well. */
  readonly notice?: string | null;
}

export interface Detection {
  readonly found: boolean;
  /** For the start-up lines and `doctor`: what was found, or what is missing. */
  readonly text: string;
  /** How to switch it on, when it is missing or only half there. */
  readonly mend?: string;
}

interface CollectorBase {
  /** Kebab-case; equals the file name, the configuration key and the `collector` label. */
  readonly name: string;
  readonly kinds: readonly EntityKind[];
  readonly default_interval_ms: number;
  readonly default_timeout_ms: number;
  /** Declared averaging window and lag of its `interval` columns; null = measured from the data. */
  readonly window_ms: number | null;
  readonly lag_ms: number | null;
  /** Default target of an HTTP collector. */
  readonly default_url?: string;
  detect(ctx: CollectorContext): Promise<Detection>;
}

/** Read once, return what was seen. One `poll` never overlaps another of the same collector. */
export interface PollCollector extends CollectorBase {
  readonly mode: "poll";
  /** State between polls (previous counters, known fields) lives in the instance that `start` returns. */
  start(): { poll(ctx: CollectorContext): Promise<Reading> };
}

/** Runs until the signal aborts or its program ends; emits as it reads. The runner restarts it with back-off. */
export interface StreamCollector extends CollectorBase {
  readonly mode: "stream";
  /** No reading for this many intervals = silent: the runner aborts and restarts it. */
  readonly silent_after_intervals: number;
  stream(ctx: CollectorContext, emit: (reading: Reading) => void): Promise<void>;
}

export type Collector = PollCollector | StreamCollector;

/** Declares a collector; exists so that every collector file has the same shape. */
export const defineCollector = <T extends Collector>(collector: T): T => collector;
