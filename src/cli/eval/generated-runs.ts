import { drawVariation } from "../../../lab/variations/draw-variation.js";
import { TIER_NAMES, type Tier, type Variation } from "../../../lab/variations/variation.js";
import type { DecisionTable } from "../../../schemas/decision-table.js";
import { ROOFLINE } from "../../sim/physics.js";
import { SECOND_PHYSICS } from "../../sim/second-physics/index.js";
import { judgeVariation } from "./judge-simulated.js";
import { addRun, type Counts, newTally, type Tally } from "./tally.js";

export const PHYSICS = { first: ROOFLINE, second: SECOND_PHYSICS } as const;
export type PhysicsName = keyof typeof PHYSICS;

export interface GeneratedOptions {
  readonly runs: number;
  readonly seed: number;
  /** Absent: all tiers, one after another. */
  readonly tier?: Tier;
  readonly family?: string;
  readonly physics: PhysicsName;
}

export interface GeneratedRun {
  readonly variation: Variation;
  readonly tier: Tier;
  readonly counts: Counts;
}

export interface GeneratedOutcome {
  readonly total: Tally;
  readonly tiers: Readonly<Partial<Record<Tier, Tally>>>;
  /** Runs without a cause on the node. */
  readonly outside: Tally;
  readonly runs: readonly GeneratedRun[];
}

/** Families whose delay no resource of the node explains, and quiet runs. */
const OUTSIDE: ReadonlySet<string> = new Set(["none", "client_network", "pause", "restart"]);

/** Tier of a run among all: seeds take them in turn. */
export const tierOf = (seed: number): Tier => TIER_NAMES[seed % TIER_NAMES.length]!;

/** Draws, simulates and judges variations, one seed after another. */
export function judgeGenerated(
  options: GeneratedOptions,
  table: DecisionTable,
  onRun: (run: GeneratedRun) => void = () => {},
): GeneratedOutcome {
  const total = newTally();
  const outside = newTally();
  const tiers: Partial<Record<Tier, Tally>> = {};
  const runs: GeneratedRun[] = [];
  for (let seed = options.seed; seed < options.seed + options.runs; seed++) {
    const tier = options.tier ?? tierOf(seed);
    const variation = drawVariation(seed, { tier, ...(options.family === undefined ? {} : { family: options.family }) });
    const { labels, report } = judgeVariation(variation, table, PHYSICS[options.physics]);
    const tally = tiers[tier] ?? newTally();
    tiers[tier] = tally;
    addRun(tally, labels, report);
    if (OUTSIDE.has(variation.family)) addRun(outside, labels, report);
    const run = { variation, tier, counts: addRun(total, labels, report) };
    runs.push(run);
    onRun(run);
  }
  return { total, tiers, outside, runs };
}
