import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput, Mark } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();
const START = 1_790_000_000_000_000;
const main = (input: DiagnosisInput) => [...diagnose(input, table).episodes].sort((a, b) => b.requests - a.requests)[0]!;
const marked = (kind: string, second: number): DiagnosisInput => {
  const input = syntheticRun(CLEAR.compute!);
  const mark: Mark = { ts_us: START + second * 1e6, node: "", kind, text: `something of kind ${kind}` };
  return { ...input, telemetry: { ...input.telemetry, marks: [mark] } };
};

describe("what changed", () => {
  it("just before an episode is named in it, with the time between", () => {
    for (const kind of ["user", "xid", "clock_step", "gpu_fault", "oom_kill"]) {
      const { after_mark } = main(marked(kind, 55));
      expect([after_mark?.kind, after_mark?.text, after_mark?.time]).toEqual([
        kind,
        `something of kind ${kind}`,
        "2026-09-21T14:14:15.000000Z",
      ]);
      expect(after_mark!.before_ms).toBeGreaterThan(4000);
      expect(after_mark!.before_ms).toBeLessThan(8000);
    }
  });

  it("long before or after it is not, nor is what the agent did itself", () => {
    for (const [kind, second] of [
      ["user", 20],
      ["user", 75],
      ["agent_restart", 55],
    ] as const)
      expect(main(marked(kind, second)).after_mark).toBeNull();
  });

  it("a mark that explains nothing leaves the verdict; a restart with a pause beside it becomes the cause", () => {
    expect(main(marked("user", 55)).class).toBe("compute");
    const wait = { from: 60, to: 80, ttft_ms: 800, waits: "outside" as const };
    const input = syntheticRun({ faults: [wait] });
    const mark: Mark = { ts_us: START + 58e6, node: "", kind: "restart", text: "vllm restarted" };
    const e = main({ ...input, telemetry: { ...input.telemetry, marks: [mark] } });
    expect([e.class, e.cause]).toEqual(["indeterminate", "restart-or-load"]);
  });

  it("a power limit and a link width that step are seen in the readings", () => {
    const input = syntheticRun(CLEAR.compute!);
    const withColumn = (name: string, before: number, after: number): DiagnosisInput => ({
      ...input,
      telemetry: {
        ...input.telemetry,
        tracks: input.telemetry.tracks.map((t) =>
          t.entity.kind !== "gpu" ? t : { ...t, columns: { ...t.columns, [name]: t.ts_us.map((_, i) => (i < 57 ? before : after)) } },
        ),
      },
    });
    expect(main(withColumn("power_limit_w", 700, 400)).after_mark?.text).toBe("power limit of GPU 0 went from 700 to 400 W");
    expect(main(withColumn("pcie_link_width", 16, 4)).after_mark?.text).toBe("PCIe link of GPU 0 went from x16 to x4");
  });
});

describe("a trace that holds a part of the traffic", () => {
  it("says nothing about the server's load: its gauges do", () => {
    const whole = syntheticRun(CLEAR.compute!);
    const input: DiagnosisInput = {
      ...whole,
      telemetry: {
        ...whole.telemetry,
        tracks: whole.telemetry.tracks.map((t) =>
          t.entity.kind !== "server" ? t : { ...t, columns: { ...t.columns, success_total: t.ts_us.map((_, i) => 20 * i) } },
        ),
      },
    };
    const facts = (e: ReturnType<typeof main>) => new Set(e.evidence.map((r) => r.fact));
    expect(diagnose(input, table).data.warnings.map((w) => w.code)).toContain("PARTIAL_TRACE");
    for (const fact of ["prefill_dose", "prefill_surge", "stall_sync", "victims_only"])
      expect(facts(main(input)).has(fact), fact).toBe(false);
    for (const fact of ["prefill_dose", "prefill_surge"]) expect(facts(main(whole)).has(fact), fact).toBe(true);
    expect(main(input).class).toBe("compute");
  });
});
