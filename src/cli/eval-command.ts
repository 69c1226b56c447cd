import type { Command } from "commander";
import { FAULTY } from "../../lab/variations/draw-variation.js";
import { TIER_NAMES, type Tier } from "../../lab/variations/variation.js";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { AppError } from "../../schemas/error-codes.js";
import { SCENARIOS } from "../sim/scenarios/index.js";
import type { CommandIo } from "./command-io.js";
import { readTable } from "./correlate-command.js";
import { ablate } from "./eval/ablation.js";
import { ablationTable, confusionTable, familyTable, figuresTable, reliabilityTable, scenarioTable } from "./eval/eval-text.js";
import { type GeneratedRun, judgeGenerated, PHYSICS, type PhysicsName } from "./eval/generated-runs.js";
import { howItIsWrong } from "./eval/how-it-is-wrong.js";
import { judgeScenario } from "./eval/judge-scenario.js";
import { correlateFolder, labelledFolders, readLabels } from "./eval/labelled-folders.js";
import { addRun, type Counts, figures, newTally, type Tally } from "./eval/tally.js";

const FAMILIES: readonly string[] = [...FAULTY, "none"];

interface EvalOptions {
  readonly lab?: boolean;
  readonly scenarios?: boolean;
  readonly ablation?: boolean;
  readonly page?: boolean;
  readonly runs: string;
  readonly seed: string;
  readonly tier?: string;
  readonly family?: string;
  readonly physics: string;
  readonly table?: string;
  readonly each?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, io: CommandIo): void {
  program
    .command("eval")
    .description("how right the verdicts are: on labelled runs, or on simulated ones")
    .argument("[folders...]", "labelled runs, or folders of them (docs/labelled-runs.md)")
    .option("--lab", "on simulated variations, drawn from a seed")
    .option("--scenarios", "on the named scenarios of the simulator")
    .option("--ablation", "on simulated runs from which one source after another is taken")
    .option("--page", "all of these as the page docs/how-it-is-wrong.md")
    .option("--runs <n>", "simulated runs; of an ablation, runs of each kind of fault", "100")
    .option("--seed <n>", "the first seed; each run has its own", "1")
    .option("--tier <name>", `only one set of sources: ${TIER_NAMES.join(", ")}`)
    .option("--family <fault>", "only this kind of fault")
    .option("--physics <name>", `the simulator's laws: ${Object.keys(PHYSICS).join(", ")}`, "first")
    .option("--table <file>", "another decision table (JSON)")
    .option("--each", "also one line a run")
    .option("--json", "the figures as JSON, and nothing else, on stdout")
    .action((folders: string[], options: EvalOptions) => evalCommand(folders, options, io));
}

async function evalCommand(folders: readonly string[], options: EvalOptions, io: CommandIo): Promise<void> {
  const ways = [folders.length > 0, options.lab, options.scenarios, options.ablation, options.page].filter(Boolean).length;
  if (ways !== 1)
    throw new AppError("USAGE", "eval needs folders of labelled runs, or one of --lab, --scenarios, --ablation, --page", {
      mend: "try 'whyslow eval --lab --runs 50'",
    });
  const table = options.table === undefined ? defaultDecisionTable() : readTable(options.table);
  const runs = wholeNumber("--runs", options.runs);
  const seed = wholeNumber("--seed", options.seed);
  const json = (value: object): void => io.out(`${JSON.stringify({ schema: "whyslow.eval/v1", ...value })}\n`);
  const progress = (text: string): void => {
    if (io.errIsTerminal) io.err(`\r\u001b[K${text}`);
  };

  if (options.page) io.out(howItIsWrong({ runs, seed, ablationRuns: Math.max(1, Math.round(runs / 100)) }, table, progress));
  else if (options.scenarios) {
    const outcomes = SCENARIOS.map((s) => ({ ...judgeScenario(s, table), title: s.title }));
    if (options.json) json({ scenarios: outcomes });
    else io.out(`${scenarioTable(outcomes)}\n`);
  } else if (options.ablation) {
    const rows = ablate(runs, seed, table, (done, total) => progress(`${done} of ${total}`));
    if (options.json) json({ ablation: rows.map(({ name, tally }) => ({ name, figures: figures(tally) })) });
    else io.out(`${ablationTable(rows)}\n`);
  } else if (options.lab) {
    const tier = options.tier === undefined ? undefined : oneOf("--tier", options.tier, TIER_NAMES);
    if (options.family !== undefined) oneOf("--family", options.family, FAMILIES);
    const physics = oneOf("--physics", options.physics, Object.keys(PHYSICS) as PhysicsName[]);
    const onRun = (run: GeneratedRun): void => {
      if (options.each && !options.json) io.out(`${runLine(`seed ${run.variation.seed} ${run.tier} ${run.variation.name}`, run.counts)}\n`);
      progress(`${run.variation.name}`);
    };
    const given = { ...(tier === undefined ? {} : { tier }), ...(options.family === undefined ? {} : { family: options.family }) };
    const outcome = judgeGenerated({ runs, seed, physics, ...given }, table, onRun);
    const tallies: [string, Tally][] = [["all", outcome.total], ...(Object.entries(outcome.tiers) as [Tier, Tally][])];
    const named: [string, Tally][] = [...tallies, ["no cause on the node", outcome.outside]];
    const each = outcome.runs.map((r) => ({ name: r.variation.name, seed: r.variation.seed, tier: r.tier, ...r.counts }));
    printTallies("tier", named, each, options, io, json);
  } else {
    const total = newTally();
    const each: (Counts & { name: string; seconds: number })[] = [];
    for (const folder of folders.flatMap(labelledFolders)) {
      const labels = readLabels(folder);
      const began = io.wallUs();
      const report = await correlateFolder(folder, table).catch((error: unknown) => {
        io.err(`whyslow: ${folder}: ${error instanceof Error ? error.message : String(error)}\n`);
        return null;
      });
      const counts = addRun(total, labels, report);
      each.push({ name: labels.name, ...counts, seconds: (io.wallUs() - began) / 1e6 });
      if (options.each && !options.json) io.out(`${runLine(labels.name, counts)}\n`);
    }
    printTallies("runs", [["all", total]], each, options, io, json);
    if (total.failed > 0) io.exit(1);
  }
  progress("");
}

function printTallies(
  what: string,
  tallies: readonly (readonly [string, Tally])[],
  each: readonly object[],
  options: EvalOptions,
  io: CommandIo,
  json: (value: object) => void,
): void {
  const total = tallies[0]![1];
  if (options.json) {
    const all = Object.fromEntries(
      tallies.map(([name, t]) => [name, { figures: figures(t), runs: t.runs, confusion: t.confusion, bins: t.bins }]),
    );
    json({ ...figures(total), by: all, families: total.families, runs: each });
    return;
  }
  const parts = [figuresTable(what, tallies), confusionTable(total), reliabilityTable(total), familyTable(total)];
  io.out(`${parts.join("\n\n")}\n`);
}

const runLine = (name: string, c: Counts): string =>
  `${name}: found ${c.found} of ${c.found + c.missed}, false ${c.falsePositives} of ${c.quiet}, right ${c.right}, wrong ${c.wrong}, abstained ${c.abstained}`;

function wholeNumber(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text) && (option !== "--runs" || Number(text) > 0)) return Number(text);
  throw new AppError("USAGE", `${option} '${text}' is no whole number${option === "--runs" ? " above 0" : ""}`);
}

function oneOf<T extends string>(option: string, text: string, words: readonly T[]): T {
  const found = words.find((w) => w === text);
  if (found === undefined) throw new AppError("USAGE", `${option} '${text}' is not known`, { mend: `use one of ${words.join(", ")}` });
  return found;
}
