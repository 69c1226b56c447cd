import type { Physics } from "../physics.js";
import { tableStepCost } from "./table-step-cost.js";

/** Share of steps that hiccup (allocator, kernel selection, a lost core), and by how much. */
const HICCUPS = 0.008;

/**
 * Another physics for judging and never for tuning: step times from a table, heavy-tailed noise, other levels, another front end.
 * No ramp, weight or prior may be fitted to runs of it.
 */
export const SECOND_PHYSICS: Physics = {
  name: "second",
  stepCost: tableStepCost,
  stepNoise: (random) => {
    const usual = Math.exp(0.045 * random.normal());
    return random.next() < HICCUPS ? usual * (1.3 + 1.5 * random.next()) : usual;
  },
  front: { accept_us: 900, tokenize_us_per_token: 2.1, emit_us_per_token: 80 },
  sensors: {
    memUtil: (dram) => Math.min(1, 0.04 + 0.68 * dram ** 1.15),
    occupancy: 0.27,
    noise: { pipe: 0.09, power: 0.06, clock: 0.012, link: 0.1 },
  },
};
