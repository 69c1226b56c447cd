import type { Random } from "../../src/sim/random.js";
import { type Fault, type FaultKind, kvBlocks, type ServerOptions, type Workload } from "../../src/sim/scenario.js";
import type { Load } from "./server-load.js";

/** What a kind of fault needs of the server and how strong it is at effect 1. */
export interface FaultPlan {
  readonly server?: Partial<ServerOptions>;
  readonly workload?: Partial<Workload>;
  /** Size of the KV pool, tokens, where the fault needs a small one. */
  readonly pool?: (load: Load) => number;
  readonly seconds: readonly [least: number, most: number];
  magnitude(context: { readonly server: ServerOptions; readonly load: Load; readonly effect: number; readonly random: Random }): number;
  readonly extra?: (context: { readonly load: Load; readonly effect: number }) => Partial<Fault>;
}

/** A share of 1 that is left, scaled so that the loss of speed grows with the effect. */
const left = (share: number, effect: number): number => 1 / (1 + (1 / share - 1) * effect);
/** A share of 1 that is taken. */
const taken = (share: number, effect: number): number => 1 - left(1 - share, effect);
const multiple = (times: number, effect: number): number => 1 + (times - 1) * effect;

/** Outputs of injected sessions end about with the fault. */
const paced = ({ load }: { readonly load: Load }): Partial<Fault> => ({ token_us: 2.2e6 * load.stepSeconds });

/** Every fault that random variations draw from. TP faults force at least two ranks. */
export const FAULT_PLANS: Readonly<Partial<Record<FaultKind, FaultPlan>>> = {
  arrival_burst: { seconds: [6, 14], magnitude: ({ load, effect }) => multiple(1.8 / load.utilisation, effect) },
  long_prompts: {
    seconds: [8, 18],
    magnitude: () => 14_000,
    extra: ({ load, effect }) => ({ rate_per_s: (0.75 * effect) / load.prefillSeconds(14_000) }),
  },
  thermal: { seconds: [15, 35], magnitude: ({ effect }) => left(0.33, effect) },
  power_cap: { seconds: [15, 35], magnitude: ({ effect }) => left(0.36, effect) },
  bw_cotenant: { seconds: [10, 25], magnitude: ({ effect }) => taken(0.72, effect) },
  context_growth: {
    seconds: [15, 30],
    extra: paced,
    magnitude: ({ server, load, effect }) =>
      Math.max(4, Math.min(load.sessionsThatDouble(8000) * 1.6 * effect, (0.75 * kvBlocks(server) * 16) / 10_000)),
  },
  batch_growth: {
    seconds: [20, 35],
    extra: paced,
    magnitude: ({ server, load, effect }) =>
      Math.max(20, Math.min(230, load.sessionsThatDouble(1700) * 1.6 * effect, (0.75 * kvBlocks(server) * 16) / 2500)),
  },
  kv_full: {
    seconds: [6, 14],
    magnitude: ({ server, load, effect }) => 1 - Math.min(0.5, (load.kvTokens * (0.45 / effect)) / (kvBlocks(server) * 16)),
  },
  long_outputs: {
    pool: (load) => Math.max(14_000, 1.5 * load.kvTokens),
    seconds: [8, 16],
    extra: paced,
    magnitude: ({ effect }) => multiple(2.2, effect),
  },
  kv_sessions: {
    pool: (load) => Math.max(8000, 0.5 * load.kvTokens) + 4 * 12_000,
    seconds: [8, 16],
    magnitude: ({ effect }) => Math.max(3, Math.round(4.6 * Math.min(1, 0.8 + 0.2 * effect))),
    extra: (context) => ({ ...paced(context), prompt_tokens: 12_000 }),
  },
  prefix_thrash: {
    workload: { cached_share: 0.9, prompt_median: 6000, prompt_sigma: 0.3 },
    seconds: [10, 25],
    magnitude: ({ effect }) => Math.max(0, 1 - 0.85 * effect),
  },
  cpu_tokenize: { seconds: [8, 18], magnitude: ({ load, effect }) => multiple(Math.min(400, 1.4 / load.tokenizerShare), effect) },
  agent_burst: {
    server: { gpu: "h100", model: "llama-3.1-8b" },
    seconds: [10, 20],
    magnitude: ({ effect }) => 16 * effect,
    extra: () => ({ prompt_tokens: 36_000 }),
  },
  cpu_throttle: { seconds: [10, 25], magnitude: ({ effect }) => left(0.22, effect) },
  launch: { seconds: [10, 25], magnitude: ({ load, effect }) => multiple(1 + (1.8 * load.stepSeconds) / 0.0004, effect) },
  link_degraded: { server: { tp: 2 }, seconds: [10, 25], magnitude: ({ load, effect }) => left(load.linkShareThatTriples, effect) },
  topology_fallback: { server: { tp: 2 }, seconds: [10, 25], magnitude: ({ effect }) => left(0.25, effect) },
  fabric_congestion: {
    server: { tp: 2, fabric: true },
    seconds: [8, 18],
    magnitude: ({ load, effect }) => left(Math.min(0.3, load.linkShareThatTriples * 6), effect),
  },
  straggler: { server: { tp: 2 }, seconds: [10, 25], magnitude: ({ load, effect }) => 1.6 * effect * load.stepSeconds * 1000 },
  hot_expert: { server: { tp: 2 }, seconds: [10, 25], magnitude: ({ load, effect }) => 1.6 * effect * load.stepSeconds * 1000 },
  pd_transfer: {
    server: { pd_nic_bytes_per_s: 12.5e9 },
    seconds: [8, 18],
    magnitude: ({ load, effect }) => left(Math.min(0.5, 0.5 * load.nicShareThatFills(12.5e9)), effect),
  },
  remote_prefill: {
    server: { dp_peer: true },
    seconds: [8, 18],
    magnitude: () => 14_000,
    extra: ({ load, effect }) => ({ rate_per_s: Math.min(0.8, 0.6 * effect) / load.prefillSeconds(14_000) }),
  },
  gpu_cotenant: { seconds: [10, 25], magnitude: ({ effect }) => taken(0.6, effect) },
  admission_limit: {
    server: { max_num_seqs: 12 },
    seconds: [8, 16],
    magnitude: ({ load, effect }) => multiple(1.2 / load.utilisation, effect),
  },
  pause: { seconds: [1.2, 4], magnitude: () => 1 },
  restart: { seconds: [12, 30], magnitude: () => 1 },
  client_network: { seconds: [2, 8], magnitude: ({ effect }) => Math.min(0.9, 0.6 * effect) },
};
