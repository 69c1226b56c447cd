import { CLASSES, RESOURCE_CLASSES, type Report, type Spike, type VerdictClass } from "../../../schemas/report.js";
import type { RequestLabel, RunLabels } from "../../../schemas/run-labels.js";

export interface Counts {
  found: number;
  missed: number;
  quiet: number;
  falsePositives: number;
  right: number;
  wrong: number;
  abstained: number;
}

export interface Bin {
  n: number;
  right: number;
  confidence: number;
}

export const RELIABILITY_BINS = 10;

/** What was counted over runs, and what is derived from it by `figures`. */
export interface Tally extends Counts {
  runs: number;
  failed: number;
  /** Wanted class, then given class. */
  readonly confusion: Record<string, Record<string, number>>;
  readonly perClass: Record<string, { tp: number; fp: number; fn: number }>;
  readonly families: Record<string, { right: number; all: number }>;
  readonly bins: Bin[];
}

export const newTally = (): Tally => ({
  ...{ runs: 0, failed: 0, found: 0, missed: 0, quiet: 0, falsePositives: 0, right: 0, wrong: 0, abstained: 0 },
  confusion: {},
  perClass: Object.fromEntries(CLASSES.map((c) => [c, { tp: 0, fp: 0, fn: 0 }])),
  families: {},
  bins: Array.from({ length: RELIABILITY_BINS }, () => ({ n: 0, right: 0, confidence: 0 })),
});

/** A verdict on the request as a whole is looked for in this order. */
const ORDER = ["ttft", "queue", "e2e", "tpot", "itl"];
const early = (s: Spike): boolean => s.metric === "ttft" || s.metric === "queue";
const wantedOf = (label: RequestLabel): VerdictClass => (label.ttft ?? label.e2e)!.at(-1)!;
const isScored = (label: RequestLabel): boolean => label.spike === true && (label.ttft ?? label.e2e) !== null;

/**
 * Adds one run: `report` null = it could not be correlated, and every slow request is missed. A missed spike counts against its class; a
 * spike on a quiet request counts only as a false positive, and a long gap alone (`itl`) not at all: labels know TTFT and E2E.
 */
export function addRun(tally: Tally, labels: RunLabels, report: Pick<Report, "spikes"> | null): Counts {
  const run: Counts = { found: 0, missed: 0, quiet: 0, falsePositives: 0, right: 0, wrong: 0, abstained: 0 };
  const spikes = new Map<string, Spike[]>();
  for (const s of report?.spikes ?? []) {
    const own = spikes.get(s.request_id);
    if (own) own.push(s);
    else spikes.set(s.request_id, [s]);
  }
  for (const label of labels.requests) {
    const own = (spikes.get(label.request_id) ?? []).sort((a, b) => ORDER.indexOf(a.metric) - ORDER.indexOf(b.metric));
    if (label.spike === false) {
      run.quiet++;
      if (own.some((s) => s.metric !== "itl")) run.falsePositives++;
    }
    if (!isScored(label)) continue;
    if (own.length === 0) {
      run.missed++;
      tally.perClass[wantedOf(label)]!.fn++;
    } else addVerdict(tally, run, label, own);
  }
  for (const key of Object.keys(run) as (keyof Counts)[]) tally[key] += run[key];
  tally.runs++;
  if (report === null) tally.failed++;
  const family = tally.families[labels.family] ?? { right: 0, all: 0 };
  family.right += run.right;
  family.all += run.right + run.wrong + run.abstained + run.missed;
  tally.families[labels.family] = family;
  return run;
}

function addVerdict(tally: Tally, run: Counts, label: RequestLabel, own: readonly Spike[]): void {
  run.found++;
  const spike = (label.ttft && own.find(early)) || (label.e2e && own.find((s) => !early(s))) || own[0]!;
  const right = (early(spike) ? (label.ttft ?? label.e2e) : (label.e2e ?? label.ttft))!;
  const ok = right.includes(spike.class);
  const main = right.at(-1)!;
  const row = tally.confusion[main] ?? {};
  row[spike.class] = (row[spike.class] ?? 0) + 1;
  tally.confusion[main] = row;
  if (ok) {
    run.right++;
    tally.perClass[spike.class]!.tp++;
  } else {
    tally.perClass[main]!.fn++;
    if (spike.class === "indeterminate") run.abstained++;
    else {
      run.wrong++;
      tally.perClass[spike.class]!.fp++;
    }
  }
  if (spike.class === "indeterminate" || spike.confidence === null) return;
  const bin = tally.bins[Math.min(RELIABILITY_BINS - 1, Math.max(0, Math.floor(spike.confidence * RELIABILITY_BINS)))]!;
  bin.n++;
  bin.confidence += spike.confidence;
  if (ok) bin.right++;
}

export interface Figures {
  readonly recall: number;
  readonly false_positive_rate: number;
  /** Of all found spikes. */
  readonly accuracy: number;
  readonly abstain: number;
  /** Of those that were answered with a class. */
  readonly accuracy_of_answers: number;
  readonly macro_f1: number;
  readonly ece: number;
  readonly mean_confidence: number;
  readonly failed: number;
}

const share = (part: number, whole: number): number => part / Math.max(1, whole);

export const f1 = ({ tp, fp, fn }: { tp: number; fp: number; fn: number }): number => (2 * tp) / Math.max(1, 2 * tp + fp + fn);

export function figures(t: Tally): Figures {
  const answered = t.bins.reduce((sum, b) => sum + b.n, 0);
  const all = t.right + t.wrong + t.abstained;
  const answersRight = RESOURCE_CLASSES.reduce((sum, c) => sum + t.perClass[c]!.tp, 0);
  return {
    recall: share(t.found, t.found + t.missed),
    false_positive_rate: share(t.falsePositives, t.quiet),
    accuracy: share(t.right, all),
    abstain: share(t.abstained, all),
    accuracy_of_answers: share(answersRight, answersRight + t.wrong),
    macro_f1: RESOURCE_CLASSES.reduce((sum, c) => sum + f1(t.perClass[c]!), 0) / RESOURCE_CLASSES.length,
    ece: share(
      t.bins.reduce((sum, b) => sum + Math.abs(b.right - b.confidence), 0),
      answered,
    ),
    mean_confidence: share(
      t.bins.reduce((sum, b) => sum + b.confidence, 0),
      answered,
    ),
    failed: t.failed,
  };
}
