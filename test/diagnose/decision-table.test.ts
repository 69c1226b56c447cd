import { describe, expect, it } from "vitest";
import { type DecisionTable, defaultDecisionTable, loadDecisionTable } from "../../schemas/decision-table.js";
import { AppError } from "../../schemas/error-codes.js";
import { RESOURCE_CLASSES } from "../../schemas/report.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { FACTS } from "../../src/diagnose/facts/index.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();
const copy = (): Record<string, unknown> => JSON.parse(JSON.stringify(table));

const refusal = (json: unknown): string => {
  try {
    loadDecisionTable(json);
  } catch (error) {
    if (error instanceof AppError && error.code === "TABLE_INVALID") return error.message;
    throw error;
  }
  return "";
};

describe("the decision table", () => {
  it("has a row for every fact of the code and code for every row", () => {
    expect(table.facts.map((f) => f.name).sort()).toEqual(Object.keys(FACTS).sort());
  });

  it("gives every phase a prior that sums to one, and every class a cause and a remedy", () => {
    for (const [phase, row] of Object.entries(table.phase_prior))
      expect(
        Object.values(row).reduce((a, b) => a + b!, 0),
        phase,
      ).toBeCloseTo(1, 3);
    for (const c of RESOURCE_CLASSES) {
      const last = table.causes.filter((x) => x.class === c).at(-1)!;
      expect(last.requires, c).toEqual([]);
    }
  });

  it("is refused with the path of the defect", () => {
    expect(refusal({})).toContain("schema");
    expect(refusal(null)).toContain("(root)");
    const wrongWeight = copy();
    (wrongWeight.facts as { weights: unknown }[])[3]!.weights = { compute: ["a", 1] };
    expect(refusal(wrongWeight)).toContain("facts.3.weights.compute.0");
    const unknownFact = copy();
    (unknownFact.causes as { requires: unknown[] }[])[0]!.requires = [{ fact: "no_such", min: 0.5 }];
    expect(refusal(unknownFact)).toContain("causes.0.requires.0.fact");
    const twice = copy();
    (twice.facts as unknown[]).push((twice.facts as unknown[])[0]);
    expect(refusal(twice)).toContain("is there twice");
    expect(refusal({ ...copy(), surprise: 1 })).toContain("surprise");
  });

  it("decides: without its pipe facts the same run is no longer compute", () => {
    const without: DecisionTable = {
      ...table,
      facts: table.facts.map((f) => (["admission", "pipe", "trace", "load", "power"].includes(f.group) ? { ...f, weights: {} } : f)),
    };
    const input = syntheticRun(CLEAR.compute!);
    expect(diagnose(input, table).episodes[0]!.class).toBe("compute");
    expect(diagnose(input, without).episodes[0]!.class).not.toBe("compute");
  });
});
