import type { RequestColumns } from "./requests.js";
import type { Telemetry } from "./telemetry.js";

/** How the clocks of the observers were brought onto one axis. */
export interface ClockAlignment {
  /** What was added to the client's stamps to bring them onto the server's axis, ms; null when there was nothing to compare. */
  readonly offset_ms: number | null;
  readonly uncertainty_ms: number | null;
  /** `same-host`, `min-delay` (minimum over joined requests), `none`, … */
  readonly method: string;
  readonly joined: number;
}

/** What a request should cost and what telemetry usually reads, learned on another run of the same service. */
export interface WorkModel {
  /** The run that it was fitted on. */
  readonly run: string;
  /** Coefficients of the latency models, ms: see src/diagnose/baselines.ts; null where they could not be fitted. */
  readonly ttft: readonly number[] | null;
  readonly e2e: readonly number[] | null;
  /** Usual values where there is no model by work, ms; null = not measured. */
  readonly ttft_ms: number | null;
  readonly e2e_ms: number | null;
  readonly tpot_ms: number | null;
  readonly itl_ms: number | null;
  /** Robust sigma of log(observed / expected). */
  readonly sigma: Readonly<Record<"ttft" | "e2e" | "tpot" | "itl", number>>;
  /** Usual readings by `KIND.SERIES`, undisturbed: median and robust sigma. */
  readonly usual: Readonly<Record<string, { readonly median: number; readonly sd: number }>>;
}

/** Everything that the diagnosis of one run or range rests on. */
export interface DiagnosisInput {
  readonly run: {
    readonly id: string;
    readonly start_us: number | null;
    readonly end_us: number | null;
    readonly manifest: Readonly<Record<string, string>>;
  };
  readonly requests: RequestColumns;
  readonly telemetry: Telemetry;
  readonly clock: ClockAlignment;
  /** Things already found on the way here (rejected rows, open requests, …). */
  readonly warnings: readonly { readonly code: string; readonly text: string }[];
  /** Another run against which this one is judged, so that one that is slow throughout is seen as slow. */
  readonly baseline?: WorkModel;
  /** Latency limits in ms by metric; empty when none were given. */
  readonly slo_ms: Readonly<Partial<Record<"ttft" | "itl" | "tpot" | "e2e" | "queue", number>>>;
}
