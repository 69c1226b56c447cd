import type { DecisionTable, FactRow, RequestColumns, VerdictClass } from "../../schemas/index.js";
import type { StepFunction } from "../core/step-function.js";
import type { Change } from "./changes.js";
import type { Detection } from "./detector.js";
import type { GroupRequests } from "./group-requests.js";
import type { Incident } from "./incidents.js";
import type { NaturalLoad } from "./natural-load.js";
import type { PhaseShares } from "./phase-shares.js";
import type { UsualParts } from "./phases.js";
import type { ServerGroup } from "./server-groups.js";
import type { TelemetryView } from "./telemetry-view.js";
import type { TraceLoad } from "./trace-load.js";

/** What is known of one server over the whole run. */
export interface GroupContext {
  readonly group: ServerGroup;
  readonly q: GroupRequests;
  readonly all: RequestColumns;
  readonly load: TraceLoad;
  readonly detection: Detection;
  readonly view: TelemetryView;
  readonly table: DecisionTable;
  /** Uncertainty of the clock between requests and telemetry, µs. */
  readonly clockSigma_us: number;
  readonly manifest: Readonly<Record<string, string>>;
  /**
   * Part of the server's requests that the trace holds; 1 where it holds them all or nothing tells. Below 1 what the trace alone says about
   * the server's load, and about who else stalled, is void.
   */
  readonly traceShare: number;
  /** Predicted start of each request's prefill, µs; null without token counts. */
  readonly prefillFrom: Float64Array | null;
  /** 1 while a predicted prefill runs, else 0. */
  readonly prefillBusy: StepFunction | null;
  /** Waits and busy time that the arrivals alone bring; null without token counts. */
  readonly natural: NaturalLoad | null;
  /** Running sum of the uncached prompt tokens, in order of arrival; has n + 1 values. */
  readonly arrivedTokens: Float64Array;
  readonly usualParts: UsualParts;
  readonly excluded: ReadonlySet<VerdictClass>;
  /** Time per token at the load that each request met, ms; null when too few rows tell. */
  readonly stepModel: Float64Array | null;
  /** What changed on the server and its node, in order of time. */
  readonly changes: readonly Change[];
  /** Start of the process restarts and other marks that explain a pause, µs. */
  readonly restarts: readonly number[];
}

/** What is known of one incident. */
export interface EpisodeContext extends GroupContext {
  readonly incident: Incident;
  readonly phases: PhaseShares;
}

/** What one fact says about one incident. */
export interface FactReading {
  readonly fact: string;
  /** Strength in [0, 1]: 1 = wholly present. */
  readonly strength: number;
  readonly value: number;
  /** What is usual in the run; NaN where nothing is. */
  readonly expected: number;
  readonly quality: number;
  readonly source: string;
  /** Robust sigmas above the usual; NaN where nothing is usual. */
  readonly contrast: number;
  /** Share of the excess that the mechanism's own clock accounts for; NaN where it has none. */
  readonly dose: number;
}

/** A fact computes its reading from the episode and its row of the table, or null when its inputs are missing. */
export type Fact = (ctx: EpisodeContext, row: FactRow) => FactReading | null;

/** The named ramp of a fact; the table is validated, so that a missing one is a defect of the table. */
export const rampOf = (row: FactRow, name: string): readonly [number, number] => row.ramps[name] ?? [0, 1];
