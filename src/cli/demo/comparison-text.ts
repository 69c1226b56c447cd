import { table } from "../../report/text-layout.js";
import type { Comparison } from "./compare-truth.js";

/** Truth and report side by side. `start_us`: start of the run. */
export function comparisonText(comparison: Comparison, start_us: number): string {
  const second = (us: number): string => `${Math.round((us - start_us) / 1e6)}`;
  const rows = comparison.faults.map((f) => [
    f.injected,
    f.cause,
    `${second(f.start_us)}-${second(f.end_us)} s`,
    String(f.slow),
    String(f.found),
    f.named ?? "nothing",
    f.confidence === null ? "-" : f.confidence.toFixed(2),
    f.right ? "right" : "WRONG",
  ]);
  const head = ["INJECTED", "CAUSE", "AT", "SLOW", "FOUND", "NAMED", "CONFIDENCE", ""];
  const right = comparison.faults.filter((f) => f.right).length;
  return [
    "The truth: each fault against the same arrivals without it",
    "",
    ...table([head, ...rows], [3, 4, 6]),
    "",
    `undisturbed requests: ${comparison.quiet}, called slow: ${comparison.false_alarms}`,
    `${right} of ${comparison.faults.length} faults named right`,
    "",
  ].join("\n");
}
