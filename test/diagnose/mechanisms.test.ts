import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput, Track } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();
const mainOf = (input: DiagnosisInput) => [...diagnose(input, table).episodes].sort((a, b) => b.requests - a.requests)[0]!;
const mapTracks = (input: DiagnosisInput, edit: (t: Track) => Track): DiagnosisInput => ({
  ...input,
  telemetry: { ...input.telemetry, tracks: input.telemetry.tracks.map(edit) },
});

describe("a KV cache that ran out and drained", () => {
  const fault = CLEAR.kv_cache!.faults![0]!;
  const run = (preemptions: number) =>
    syntheticRun({ faults: [{ ...fault, levels: { ...fault.levels, kv_usage_ratio: 0.78, preemptions_total: preemptions } }] });

  it("is one by its preemptions beside waiting requests, whatever its mean usage", () => {
    const e = mainOf(run(1));
    expect([e.class, e.cause]).toEqual(["kv_cache", "preemption-storm"]);
    const against = e.evidence.filter((r) => ["kv_full", "wait_kvlow"].includes(r.fact) && r.weight_nats < -0.01);
    expect(against).toEqual([]);
  });

  it("is none with the same usage and no preemption", () => {
    expect(mainOf(run(0)).class).not.toBe("kv_cache");
  });
});

describe("clocks held down", () => {
  const fault = CLEAR.compute!.faults![0]!;
  const hot = (gpus: readonly string[]) =>
    mapTracks(syntheticRun({ gpus: 4, faults: [{ ...fault, levels: { gr_engine_active_ratio: 0.99, gpu_util_ratio: 1 } }] }), (t) => {
      if (!gpus.includes(t.entity.key)) return t;
      const busy = t.columns.gpu_util_ratio!.map((v) => (v > 0.985 ? 1 : 0));
      return {
        ...t,
        columns: {
          ...t.columns,
          sm_clock_mhz: busy.map((b) => (b === 1 ? 1290 : 1980)),
          clocks_event_mask: busy.map((b) => (b === 1 ? 0x40 : 0)),
        },
      };
    });

  it("on one rank of a group are a throttled straggler, not communication", () => {
    const e = mainOf(hot(["GPU-2"]));
    expect([e.class, e.cause, e.driver]).toEqual(["compute", "straggler-throttled", "degradation"]);
    expect(e.remedy?.text).toContain("One GPU");
  });

  it("on all ranks are heat", () => {
    const e = mainOf(hot(["GPU-0", "GPU-1", "GPU-2", "GPU-3"]));
    expect([e.class, e.cause]).toEqual(["compute", "thermal"]);
  });
});
