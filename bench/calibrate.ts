import { drawVariation } from "../lab/variations/draw-variation.js";
import { simulateVariation } from "../lab/variations/simulate-variation.js";
import { TIER_NAMES } from "../lab/variations/variation.js";
import { type DecisionTable, defaultDecisionTable } from "../schemas/decision-table.js";
import type { DiagnosisInput } from "../schemas/diagnosis-input.js";
import type { Report } from "../schemas/report.js";
import type { RequestLabel } from "../schemas/run-labels.js";
import { simulatedInput } from "../src/cli/eval/judge-simulated.js";
import { diagnose } from "../src/diagnose/diagnose.js";

/**
 * Fits the temperature and the bias of "none of the five" on random variations that no weight was set on, families left out in turn, with all
 * caps in place:
 *
 *     npx tsx bench/calibrate.ts [RUNS] [FIRST_SEED]
 *
 * Prints the loss of every pair, the pair that each fold picks, and the reliability of answers on the families that the fold did not see.
 */
const RUNS = Number(process.argv[2] ?? 60);
const FIRST_SEED = Number(process.argv[3] ?? 20_000);
const FOLDS = 4;
const TEMPERATURES = [0.5, 0.65, 0.8, 1, 1.25, 1.6];
const BIASES = [-0.5, 0, 0.5, 1];
/** Confidence that is scored for what is withheld: what a coin knows. */
const WITHHELD_LOSS = Math.log(2);

interface Sample {
  readonly family: string;
  readonly input: DiagnosisInput;
  readonly truth: ReadonlyMap<string, RequestLabel>;
}

/** One episode: whether most of its labelled requests call its class right, and how sure it was; null confidence = withheld. */
interface Judged {
  readonly family: string;
  readonly right: boolean;
  readonly confidence: number | null;
}

function sample(seed: number): Sample {
  const variation = drawVariation(seed, { tier: TIER_NAMES[seed % TIER_NAMES.length]! });
  const run = simulateVariation(variation);
  return { family: variation.family, input: simulatedInput(run), truth: new Map(run.truth.map((l) => [l.request_id, l])) };
}

function judgedEpisodes({ family, truth }: Sample, report: Report): Judged[] {
  const out: Judged[] = [];
  for (const episode of report.episodes) {
    let known = 0;
    let right = 0;
    for (const id of new Set(report.spikes.filter((s) => s.episode === episode.id).map((s) => s.request_id))) {
      const label = truth.get(id);
      const wanted = label?.spike === true ? (label.ttft ?? label.e2e) : null;
      if (!wanted) continue;
      known++;
      if (wanted.includes(episode.class)) right++;
    }
    if (known > 0) out.push({ family, right: right * 2 > known, confidence: episode.confidence });
  }
  return out;
}

function loss(list: readonly Judged[]): number {
  let sum = 0;
  for (const { right, confidence } of list) sum += confidence === null ? WITHHELD_LOSS : -Math.log(right ? confidence : 1 - confidence);
  return sum / Math.max(1, list.length);
}

function reliability(list: readonly Judged[]): string[] {
  const bins = [0.55, 0.65, 0.75, 0.85, 0.92, 1];
  let low = 0;
  return bins.map((high) => {
    const inside = list.filter((j) => j.confidence !== null && j.confidence >= low && j.confidence < high);
    const row = `${low.toFixed(2)}-${high.toFixed(2)}  n ${inside.length}  said ${mean(inside.map((j) => j.confidence!)).toFixed(3)}  right ${mean(inside.map((j) => (j.right ? 1 : 0))).toFixed(3)}`;
    low = high;
    return row;
  });
}

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);

const table: DecisionTable = defaultDecisionTable();
const pairs = TEMPERATURES.flatMap((temperature) => BIASES.map((none_bias) => ({ temperature, none_bias })));
const results: Judged[][] = pairs.map(() => []);
for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
  const one = sample(seed);
  pairs.forEach((pair, i) => {
    results[i]!.push(...judgedEpisodes(one, diagnose(one.input, { ...table, ...pair })));
  });
}
const families = [...new Set(results[0]!.map((j) => j.family))].sort();
const best = (keep: (family: string) => boolean): number => {
  const losses = results.map((list) => loss(list.filter((j) => keep(j.family))));
  return losses.indexOf(Math.min(...losses));
};
pairs.forEach((p, i) => {
  console.log(`T ${p.temperature} bias ${p.none_bias}: loss ${loss(results[i]!).toFixed(4)}`);
});
const held: Judged[] = [];
for (let fold = 0; fold < FOLDS; fold++) {
  const out = new Set(families.filter((_, i) => i % FOLDS === fold));
  const pick = best((f) => !out.has(f));
  const left = results[pick]!.filter((j) => out.has(j.family));
  held.push(...left);
  console.log(
    `without ${[...out].join(", ")}: T ${pairs[pick]!.temperature} bias ${pairs[pick]!.none_bias}; on them: loss ${loss(left).toFixed(4)}`,
  );
}
const all = best(() => true);
console.log(`all: T ${pairs[all]!.temperature} bias ${pairs[all]!.none_bias}`);
console.log(`episodes on families left out: ${held.length}, withheld ${held.filter((j) => j.confidence === null).length}`);
for (const row of reliability(held)) console.log(row);
