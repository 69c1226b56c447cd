import type { Detection } from "../../schemas/collector.js";
import type { CollectorHealth } from "../export/agent-families.js";

/** A collector as its runner keeps it; readable at any time. */
export interface CollectorState extends CollectorHealth {
  success: boolean | null;
  durationMs: number | null;
  lastSuccessUs: number | null;
  attempts: number;
  failures: number;
  timeouts: number;
  restarts: number;
  missed: number;
  samples: number;
  readonly rejected: Map<string, number>;
  readonly mode: "poll" | "stream";
  readonly intervalMs: number;
  /** Off by configuration; waiting until its source is found; or running. */
  status: "off" | "waiting" | "running";
  detection: Detection | null;
  /** What its last reading said about a half working source. */
  notice: string | null;
  lastError: string | null;
}

export const newCollectorState = (name: string, mode: CollectorState["mode"], intervalMs: number): CollectorState => ({
  name,
  mode,
  intervalMs,
  status: "waiting",
  success: null,
  durationMs: null,
  lastSuccessUs: null,
  attempts: 0,
  failures: 0,
  timeouts: 0,
  restarts: 0,
  missed: 0,
  samples: 0,
  rejected: new Map(),
  detection: null,
  notice: null,
  lastError: null,
});

export function countRejected(state: CollectorState, reason: string, count: number): void {
  state.rejected.set(reason, (state.rejected.get(reason) ?? 0) + count);
}
