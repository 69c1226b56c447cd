import { scenarioVariation } from "../../../lab/variations/scenario-variation.js";
import type { RequestForm } from "../../../lab/variations/variation.js";
import type { DecisionTable } from "../../../schemas/decision-table.js";
import type { Report, Spike, VerdictClass } from "../../../schemas/report.js";
import type { ExpectedAnswer, NamedScenario } from "../../sim/scenarios/index.js";
import type { RequestTruth } from "../../sim/truth.js";
import { judgeTruth } from "./judge-simulated.js";

const MIN_FOUND = 0.6;
const MIN_RIGHT = 0.6;
/** Of a clean run. */
const REQUESTS_PER_EPISODE = 2000;

export interface ScenarioOutcome {
  readonly id: string;
  /** What was wrong, empty when the report says what it must. */
  readonly faults: readonly string[];
  /** Slow requests by truth, and of them those that the report found. */
  readonly slow: number;
  readonly found: number;
  /** Found spikes by class and cause. */
  readonly given: Readonly<Record<string, number>>;
}

/** Simulates, correlates and holds one named scenario against what must be said of it. */
export function judgeScenario(named: NamedScenario, table: DecisionTable, form: RequestForm = "both", seedShift = 0): ScenarioOutcome {
  const { truth, report } = judgeTruth(scenarioVariation(named, form, seedShift), table);
  if (named.expect === "quiet") return judgeQuiet(named, report, truth.length);
  const { expect } = named;
  const verdicts = verdictsOf(truth, report);
  const faults: string[] = [];
  for (const [label, group] of groupsOf(named, expect, verdicts)) faults.push(...judgeGroup(label, group.classes, group.verdicts, expect));
  for (const { spike } of verdicts) {
    if (!spike) continue;
    if (expect.never?.includes(spike.class) && (spike.confidence ?? 0) > (expect.never_above ?? 0)) faults.push(`never ${spike.class}`);
    if (expect.max_confidence !== undefined && spike.class !== "indeterminate" && (spike.confidence ?? 0) > expect.max_confidence + 1e-9)
      faults.push(`confidence above ${expect.max_confidence}`);
  }
  return {
    id: named.id,
    faults: [...new Set(faults)],
    slow: verdicts.length,
    found: verdicts.filter((v) => v.spike).length,
    given: given(verdicts.flatMap((v) => (v.spike ? [v.spike] : []))),
  };
}

function judgeQuiet(named: NamedScenario, report: Report, requests: number): ScenarioOutcome {
  const allowed = Math.max(1, Math.round(requests / REQUESTS_PER_EPISODE));
  const faults = report.episodes.length > allowed ? [`${report.episodes.length} episodes in ${requests} quiet requests`] : [];
  return { id: named.id, faults, slow: 0, found: 0, given: given(report.spikes) };
}

interface Verdict {
  readonly truth: RequestTruth;
  readonly spike: Spike | null;
}

function verdictsOf(truth: readonly RequestTruth[], report: Report): Verdict[] {
  const spikes = new Map<string, Spike[]>();
  for (const s of report.spikes) spikes.set(s.request_id, [...(spikes.get(s.request_id) ?? []), s]);
  return truth
    .filter((t) => t.spike === true && (t.ttft ?? t.e2e) !== null)
    .map((t) => {
      const own = spikes.get(t.request_id) ?? [];
      const early = own.find((s) => s.metric === "ttft" || s.metric === "queue");
      const late = own.find((s) => s.metric === "e2e") ?? own.find((s) => s !== early);
      return { truth: t, spike: (t.ttft && early) || late || early || null };
    });
}

/** All slow requests as one group, or one a fault where faults differ in what they must be called. */
function groupsOf(
  named: NamedScenario,
  expect: ExpectedAnswer,
  verdicts: readonly Verdict[],
): [string, { classes: readonly VerdictClass[]; verdicts: readonly Verdict[] }][] {
  const [first] = expect.classes;
  if (typeof first === "string" || first === undefined) return [["", { classes: expect.classes as readonly VerdictClass[], verdicts }]];
  return (expect.classes as readonly (readonly VerdictClass[])[]).map((classes, i) => [
    `${named.scenario.faults[i]!.kind}: `,
    { classes, verdicts: verdicts.filter((v) => v.truth.fault === i) },
  ]);
}

function judgeGroup(label: string, classes: readonly VerdictClass[], verdicts: readonly Verdict[], expect: ExpectedAnswer): string[] {
  const found = verdicts.flatMap((v) => (v.spike ? [v.spike] : []));
  if (verdicts.length === 0) return [`${label}no slow request by truth`];
  if (found.length < MIN_FOUND * verdicts.length) return [`${label}found ${found.length} of ${verdicts.length}`];
  const right = found.filter((s) => classes.includes(s.class));
  if (right.length < MIN_RIGHT * found.length) return [`${label}right ${right.length} of ${found.length}`];
  if (!expect.causes) return [];
  const causes = Object.entries(counted(right.map((s) => s.cause ?? ""))).sort((a, b) => b[1] - a[1]);
  return expect.causes.includes(causes[0]![0]) ? [] : [`${label}cause ${causes[0]![0] || "none"}`];
}

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

const given = (spikes: readonly Spike[]): Record<string, number> =>
  counted(spikes.map((s) => (s.cause ? `${s.class}/${s.cause}` : s.class)));
