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
  /** Latency limits in ms by metric; empty when none were given. */
  readonly slo_ms: Readonly<Partial<Record<"ttft" | "itl" | "tpot" | "e2e" | "queue", number>>>;
}
