import type { VerdictClass } from "../../../schemas/report.js";
import { DEFAULT_SERVER, type Fault, type FaultKind, type Scenario, type ServerOptions, type Workload } from "../scenario.js";

/** What the report must say of a scenario's slow requests. */
export interface ExpectedAnswer {
  /** Classes of which most found spikes must have one; with several faults of different kinds, one list a fault. */
  readonly classes: readonly VerdictClass[] | readonly (readonly VerdictClass[])[];
  /** Causes of which the most frequent one of the right spikes must be one; absent = any. */
  readonly causes?: readonly string[];
  /** Classes that no spike may be given with a confidence above the limit. */
  readonly never?: readonly VerdictClass[];
  readonly never_above?: number;
  /** Largest confidence that is honest here. */
  readonly max_confidence?: number;
}

/** A situation with a name, its physics, how it is watched and what must be said of it. Seconds from its start. */
export interface NamedScenario {
  /** Number in the specification of scenarios, or its own name. */
  readonly id: string;
  readonly title: string;
  readonly scenario: Scenario;
  readonly seconds: number;
  readonly watch?: { readonly interval_s?: number; readonly lag_s?: number; readonly telemetry_offset_s?: number; readonly server?: false };
  /** `quiet`: at most one episode per 2,000 requests. */
  readonly expect: ExpectedAnswer | "quiet";
}

const SECOND = 1e6;

/** Reference A: one H100 with an 8B model, chat-like load that takes about a third of it. */
export const SERVER_A: ServerOptions = DEFAULT_SERVER;
export const LOAD_A: Workload = { rate_per_s: 5, prompt_median: 1250, prompt_sigma: 0.6, output_median: 220, output_sigma: 0.5 };
/** Reference B: a 70B model on four H100. */
export const SERVER_B: ServerOptions = { ...DEFAULT_SERVER, model: "llama-3.1-70b", tp: 4 };
export const LOAD_B: Workload = { ...LOAD_A, rate_per_s: 2.4 };

export const fault = (kind: FaultKind, from_s: number, to_s: number, magnitude: number, extra: Partial<Fault> = {}): Fault => ({
  kind,
  start_us: from_s * SECOND,
  end_us: to_s * SECOND,
  magnitude,
  ...extra,
});

interface Setting {
  readonly seconds?: number;
  readonly server?: Partial<ServerOptions>;
  readonly load?: Partial<Workload>;
  readonly watch?: NamedScenario["watch"];
}

let nextSeed = 500;
const define =
  (server: ServerOptions, load: Workload) =>
  (id: string, title: string, faults: readonly Fault[], expect: NamedScenario["expect"], setting: Setting = {}): NamedScenario => ({
    id,
    title,
    scenario: { seed: nextSeed++, server: { ...server, ...setting.server }, workload: { ...load, ...setting.load }, faults },
    seconds: setting.seconds ?? 110,
    ...(setting.watch ? { watch: setting.watch } : {}),
    expect,
  });
export const onA = define(SERVER_A, LOAD_A);
export const onB = define(SERVER_B, LOAD_B);
