import type { Conditions } from "./conditions.js";
import type { Random } from "./random.js";
import type { ServerOptions } from "./scenario.js";
import { type StepCost, type StepWork, stepCost } from "./step-cost.js";

/** What a simulated server and its sensors follow: the laws that may be exchanged while batching, faults and truth stay. */
export interface Physics {
  readonly name: string;
  stepCost(server: ServerOptions, now: Conditions, work: StepWork): StepCost;
  /** Factor on the GPU time of one step. */
  stepNoise(random: Random): number;
  /** CPU time of the front end's one core, µs. */
  readonly front: { readonly accept_us: number; readonly tokenize_us_per_token: number; readonly emit_us_per_token: number };
  readonly sensors: {
    /** NVML's memory utilization for a share of DRAM activity. */
    memUtil(dram: number): number;
    readonly occupancy: number;
    /** Standard deviations of a reading, relative. */
    readonly noise: { readonly pipe: number; readonly power: number; readonly clock: number; readonly link: number };
  };
}

/** Rooflines of data sheets. */
export const ROOFLINE: Physics = {
  name: "roofline",
  stepCost,
  stepNoise: (random) => Math.exp(0.02 * random.normal()),
  front: { accept_us: 400, tokenize_us_per_token: 1.5, emit_us_per_token: 45 },
  sensors: { memUtil: (dram) => dram * 0.82, occupancy: 0.39, noise: { pipe: 0.05, power: 0.03, clock: 0.003, link: 0.05 } },
};
