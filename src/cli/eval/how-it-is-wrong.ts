import type { DecisionTable } from "../../../schemas/decision-table.js";
import { SCENARIOS } from "../../sim/scenarios/index.js";
import { ablate } from "./ablation.js";
import { ablationTable, confusionTable, familyTable, figuresTable, reliabilityTable, scenarioTable } from "./eval-text.js";
import { judgeGenerated } from "./generated-runs.js";
import { judgeScenario } from "./judge-scenario.js";

export interface PageOptions {
  readonly runs: number;
  readonly seed: number;
  readonly ablationRuns: number;
}

/** The page docs/how-it-is-wrong.md: the same table and options give the same bytes. */
export function howItIsWrong({ runs, seed, ablationRuns }: PageOptions, table: DecisionTable, progress: (text: string) => void): string {
  progress("scenarios");
  const scenarios = SCENARIOS.map((s) => ({ ...judgeScenario(s, table), title: s.title }));
  progress("variations");
  const first = judgeGenerated({ runs, seed, physics: "first" }, table);
  progress("second physics");
  const second = judgeGenerated({ runs: Math.ceil(runs / 2), seed: seed + 100_000, tier: "full", physics: "second" }, table);
  progress("ablation");
  const ablation = ablate(ablationRuns, seed + 200_000, table);
  const tiers = Object.entries(first.tiers);
  const right = scenarios.filter((s) => s.faults.length === 0).length;
  return `${[
    "# How it is wrong",
    `Made by \`node scripts/how-it-is-wrong.mjs\`. Every run here is simulated: the levels of the simulator are plausible, not measured, and these figures say how the diagnosis behaves, not how often it is right on your hardware. Units are slow requests, as \`whyslow eval\` counts them: a missed one counts against its class, and an abstention counts as not right. \`accuracy\` is of all slow requests that were found, \`of answers\` of those that were given one of the five classes.`,
    `## ${first.total.runs} random variations, by what is measured`,
    "Faults of 25 kinds and quiet runs; GPU model, ranks, engine, request form, interval 0.1-30 s, lag 0-3 s, client clock up to 2 s off, up to 20 % of scrapes lost, half to 1.3 times the usual effect, up to three servers on a node.",
    figuresTable("tier", [["all", first.total], ...tiers, ["no cause on the node", first.outside]]),
    ...tiers.flatMap(([tier, tally]) => [`### ${tier}`, confusionTable(tally), reliabilityTable(tally)]),
    "### By fault, all tiers",
    familyTable(first.total),
    "## Another physics",
    "Step times from a table, heavy-tailed noise, other sensor levels; nothing is tuned on it.",
    figuresTable("tier", [["full", second.total]]),
    confusionTable(second.total),
    reliabilityTable(second.total),
    "## When something is taken away",
    `The same ${ablation[0]!.tally.runs} runs, watched in different ways. \`answered\` is the share of all slow requests that were given one of the five classes.`,
    ablationTable(ablation),
    "## Named scenarios",
    `${right} of ${scenarios.length} are called what they must be called; the others are listed with reasons in \`test/lab/known-misses.json\`.`,
    scenarioTable(scenarios),
  ].join("\n\n")}\n`;
}
