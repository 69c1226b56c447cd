import { CLASSES } from "../../../schemas/report.js";
import type { AblationRow } from "./ablation.js";
import { answeredShare } from "./ablation.js";
import type { ScenarioOutcome } from "./judge-scenario.js";
import { f1, figures, type Tally } from "./tally.js";

const fixed = (value: number, digits = 3): string => value.toFixed(digits);

export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const HEAD = ["runs", "macro-F1", "accuracy", "of answers", "abstained", "recall", "false positives", "ECE", "mean confidence"];

/** One row of figures a tally. */
export function figuresTable(what: string, tallies: readonly (readonly [string, Tally])[]): string {
  return markdownTable(
    [what, ...HEAD],
    tallies.map(([name, t]) => {
      const f = figures(t);
      const shares = [f.macro_f1, f.accuracy, f.accuracy_of_answers, f.abstain, f.recall].map((v) => fixed(v));
      return [name, String(t.runs), ...shares, fixed(f.false_positive_rate, 4), fixed(f.ece), fixed(f.mean_confidence)];
    }),
  );
}

/** Rows: what was meant. Columns: what was said of the spikes that were found. */
export const confusionTable = (t: Tally): string =>
  markdownTable(
    ["meant", ...CLASSES, "F1"],
    CLASSES.map((a) => [
      a,
      ...CLASSES.map((b) => String(t.confusion[a]?.[b] ?? 0)),
      a === "indeterminate" ? "" : fixed(f1(t.perClass[a]!)),
    ]),
  );

/** How often answers of a confidence are right. */
export const reliabilityTable = (t: Tally): string =>
  markdownTable(
    ["confidence", "answers", "mean", "right"],
    t.bins.flatMap((b, i) =>
      b.n === 0 ? [] : [[`${fixed(i / 10, 1)}-${fixed((i + 1) / 10, 1)}`, String(b.n), fixed(b.confidence / b.n), fixed(b.right / b.n)]],
    ),
  );

export const familyTable = (t: Tally): string =>
  markdownTable(
    ["family", "slow requests", "right"],
    Object.entries(t.families)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { right, all }]) => [name, String(all), all === 0 ? "" : fixed(right / all)]),
  );

export const ablationTable = (rows: readonly AblationRow[]): string =>
  markdownTable(
    ["watched", "answered", "accuracy of answers", "accuracy", "macro-F1", "mean confidence", "false positives"],
    rows.map(({ name, tally }) => {
      const f = figures(tally);
      const cells = [answeredShare(tally), f.accuracy_of_answers, f.accuracy, f.macro_f1, f.mean_confidence].map((v) => fixed(v));
      return [name, ...cells, fixed(f.false_positive_rate, 4)];
    }),
  );

export const scenarioTable = (outcomes: readonly (ScenarioOutcome & { readonly title: string })[]): string =>
  markdownTable(
    ["scenario", "what happens", "slow", "found", "said", "outcome"],
    outcomes.map((o) => {
      const said = Object.entries(o.given)
        .sort((a, b) => b[1] - a[1])
        .slice(0, 2)
        .map(([what, n]) => `${what} ${n}`);
      return [
        o.id,
        o.title,
        String(o.slow),
        String(o.found),
        said.join(", ") || "nothing",
        o.faults.length === 0 ? "right" : o.faults.join("; "),
      ];
    }),
  );
