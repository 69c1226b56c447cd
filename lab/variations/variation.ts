import type { Scenario } from "../../src/sim/scenario.js";

/** Which sources are there. */
export interface Inputs {
  /** dcgm-exporter with all PROF fields; with the fields of its shipped list; nvidia_gpu_exporter; none. */
  readonly gpu: "dcgm" | "stock" | "smi" | "none";
  readonly server: boolean;
  readonly host: boolean;
  /** NVLink, PCIe and InfiniBand rates. */
  readonly links: boolean;
}

export const TIERS = {
  full: { gpu: "dcgm", server: true, host: true, links: true },
  stock: { gpu: "stock", server: true, host: true, links: true },
  smi: { gpu: "smi", server: true, host: true, links: true },
  no_server: { gpu: "dcgm", server: false, host: true, links: true },
  no_host: { gpu: "dcgm", server: true, host: false, links: true },
} as const satisfies Record<string, Inputs>;
export type Tier = keyof typeof TIERS;
export const TIER_NAMES = Object.keys(TIERS) as readonly Tier[];

export type Engine = "vllm" | "vllm-v0" | "sglang";
/** AIPerf's records of the client, the server's spans, or both of the same requests. */
export type RequestForm = "aiperf" | "otlp" | "both";

/** How a run is watched. */
export interface Watch {
  readonly inputs: Inputs;
  readonly engine: Engine;
  readonly form: RequestForm;
  readonly interval_s: number;
  /** By how much a GPU reading is stamped late, seconds. */
  readonly lag_s: number;
  /** Client's clock minus the server's, seconds. */
  readonly client_offset_s: number;
  /** Telemetry's clock minus the server's, seconds: a wrong zone. */
  readonly telemetry_offset_s?: number;
  /** Share of scrapes that are lost. */
  readonly loss: number;
  /** Only so many requests around the fault's beginning were recorded; absent = all. */
  readonly requests?: number;
}

/** One labelled run to be made. Same variation, same run. */
export interface Variation {
  readonly name: string;
  readonly seed: number;
  /** Kind of its fault, `none`, or the scenario's name. */
  readonly family: string;
  readonly scenario: Scenario;
  readonly seconds: number;
  readonly watch: Watch;
  /** Servers on the node, each on GPUs of its own; only the first has the fault. */
  readonly replicas: number;
}
