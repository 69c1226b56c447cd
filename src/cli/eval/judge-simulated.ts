import { type SimulatedRun, simulateVariation } from "../../../lab/variations/simulate-variation.js";
import type { Variation } from "../../../lab/variations/variation.js";
import type { DecisionTable } from "../../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../../schemas/diagnosis-input.js";
import type { Report } from "../../../schemas/report.js";
import type { RunLabels } from "../../../schemas/run-labels.js";
import { diagnose } from "../../diagnose/diagnose.js";
import type { Physics } from "../../sim/physics.js";
import type { RequestTruth } from "../../sim/truth.js";
import { toRequestColumns } from "../../time/request-columns.js";

export interface JudgedRun {
  readonly variation: Variation;
  readonly labels: RunLabels;
  readonly report: Report;
}

/** What `correlate` would read of the run after an import. */
export function simulatedInput({ views, telemetry }: SimulatedRun): DiagnosisInput {
  const { requests, clock } = toRequestColumns(views, telemetry);
  return { run: { id: "lab", start_us: null, end_us: null, manifest: {} }, requests, telemetry, clock, warnings: [], slo_ms: {} };
}

/** Simulates and correlates one variation, all in memory. */
export function judgeTruth(
  variation: Variation,
  table: DecisionTable,
  physics?: Physics,
): { readonly truth: readonly RequestTruth[]; readonly report: Report } {
  const run = simulateVariation(variation, physics);
  return { truth: run.truth, report: diagnose(simulatedInput(run), table) };
}

/** The same as a labelled run. */
export function judgeVariation(variation: Variation, table: DecisionTable, physics?: Physics): JudgedRun {
  const { truth, report } = judgeTruth(variation, table, physics);
  return { variation, labels: { name: variation.name, family: variation.family, requests: truth }, report };
}
