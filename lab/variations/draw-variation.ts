import { CLASSES, type VerdictClass } from "../../schemas/report.js";
import type { GpuName, ModelName } from "../../src/sim/hardware.js";
import { Random } from "../../src/sim/random.js";
import { DEFAULT_SERVER, FAULTS, type Fault, type FaultKind, type ServerOptions, type Workload } from "../../src/sim/scenario.js";
import { FAULT_PLANS, type FaultPlan } from "./fault-effects.js";
import { serverLoad } from "./server-load.js";
import { type Engine, type Inputs, type RequestForm, TIER_NAMES, TIERS, type Tier, type Variation } from "./variation.js";

export interface DrawOptions {
  /** Watched by these inputs; absent = one of the tiers, drawn. */
  readonly tier?: Tier;
  /** Only this fault. */
  readonly family?: string;
  /** Telemetry at its best: 1 s, no lag, no clock error, no loss. */
  readonly clear?: boolean;
}

/** Faults that are drawn; the other family is `none`. */
export const FAULTY = Object.keys(FAULT_PLANS) as readonly FaultKind[];

/** A class is drawn first, so that none is rare; what belongs to no class, and nothing at all, is the sixth. */
const familiesOf = (cls: VerdictClass): readonly string[] => [
  ...FAULTY.filter((kind) => FAULTS[kind].class === cls),
  ...(cls === "indeterminate" ? ["none", "none"] : []),
];

/** Servers as they are run: model, GPU and ranks that fit together. */
const SERVERS: readonly (readonly [GpuName, ModelName, number])[] = [
  ["h100", "llama-3.1-8b", 1],
  ["a100", "llama-3.1-8b", 1],
  ["l40s", "llama-3.1-8b", 1],
  ["h200", "qwen2.5-14b", 1],
  ["a100", "qwen2.5-7b", 1],
  ["h100", "qwen2.5-32b", 2],
  ["a100", "qwen2.5-32b", 2],
  ["h100", "llama-3.1-70b", 4],
  ["h200", "llama-3.1-70b", 4],
  ["l40s", "qwen2.5-14b", 2],
];
const TP_SERVERS = SERVERS.filter(([, , tp]) => tp > 1);
const ONE_SERVERS = SERVERS.filter(([, , tp]) => tp === 1);
const WORKLOADS: readonly Omit<Workload, "rate_per_s">[] = [
  { prompt_median: 700, prompt_sigma: 0.6, output_median: 120, output_sigma: 0.5 },
  { prompt_median: 350, prompt_sigma: 0.7, output_median: 220, output_sigma: 0.5 },
  { prompt_median: 2400, prompt_sigma: 0.4, output_median: 90, output_sigma: 0.4 },
];
const INTERVALS = [0.1, 0.5, 1, 1, 1, 2, 5, 10, 15, 30] as const;
const ENGINES: readonly Engine[] = ["vllm", "vllm", "vllm-v0", "sglang"];
const FORMS: readonly RequestForm[] = ["aiperf", "aiperf", "otlp", "otlp", "both"];
const LEAST_REQUESTS = 100;
/** Long runs are rare, so that hundreds take minutes. */
const LENGTHS = [75, 90, 110, 130, 160, 200, 260, 600] as const;

/** One random variation. The same seed and options give the same one. */
export function drawVariation(seed: number, options: DrawOptions = {}): Variation {
  const random = new Random(seed, "variation");
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)]!;
  const family = options.family ?? pick(familiesOf(pick(CLASSES)));
  const plan: FaultPlan | undefined = FAULT_PLANS[family as FaultKind];
  const needsRanks = (plan?.server?.tp ?? 1) > 1;
  const alone = plan?.server !== undefined && !needsRanks;
  const [gpu, model, tp] = pick(needsRanks ? TP_SERVERS : alone ? ONE_SERVERS : SERVERS);
  const roomy: ServerOptions = { ...DEFAULT_SERVER, gpu, model, ...plan?.server, tp, chunked_prefill: random.next() < 0.85 };
  const shape: Omit<Workload, "rate_per_s"> = { ...pick(WORKLOADS), ...plan?.workload };
  const load = serverLoad(roomy, shape, 0.25 + 0.25 * random.next());
  const server: ServerOptions = plan?.pool ? { ...roomy, kv_tokens: Math.round(plan.pool(load)) } : roomy;
  const effect = 0.5 + 0.8 * random.next();
  const replicas = random.next() < 0.2 && tp === 1 && plan?.server === undefined ? 2 + Math.floor(2 * random.next()) : 1;
  const seconds = Math.min(replicas > 1 ? 130 : 600, Math.max(pick(LENGTHS), Math.round(LEAST_REQUESTS / load.rate_per_s)));
  const faults: Fault[] = [];
  if (plan) {
    const length_s = plan.seconds[0] + (plan.seconds[1] - plan.seconds[0]) * random.next();
    const start_s = 0.35 * seconds + 0.25 * seconds * random.next();
    faults.push({
      kind: family as FaultKind,
      start_us: Math.round(start_s * 1e6),
      end_us: Math.round((start_s + length_s) * 1e6),
      magnitude: plan.magnitude({ server, load, effect, random }),
      ...plan.extra?.({ load, effect }),
    });
  }
  const tier = options.tier ?? pick(TIER_NAMES);
  const inputs: Inputs = TIERS[tier];
  const form = family === "client_network" ? pick(["aiperf", "both"] as const) : pick(FORMS);
  const worse = !options.clear;
  const interval_s = pick(INTERVALS);
  const lag_s = random.next() < 0.5 ? 0 : 3 * random.next();
  const offset_s = random.next() < 0.5 ? 0 : 4 * random.next() - 2;
  const loss = random.next() < 0.5 ? 0 : 0.2 * random.next();
  return {
    name: `${family}-${server.gpu}${tp > 1 ? `tp${tp}` : ""}-${seed}`,
    seed,
    family,
    scenario: { seed, server, workload: { ...shape, rate_per_s: load.rate_per_s / (replicas > 1 ? 1.3 : 1) }, faults },
    seconds,
    watch: {
      inputs,
      engine: pick(ENGINES),
      form,
      interval_s: worse ? interval_s : 1,
      lag_s: worse ? lag_s : 0,
      client_offset_s: worse ? offset_s : 0,
      loss: worse ? loss : 0,
    },
    replicas,
  };
}
