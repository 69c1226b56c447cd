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

describe("what only looks like a resource", () => {
  const queue = { from: 60, to: 80, ttft_ms: 900, waits: "queue" as const };

  it("a number of running requests that never rises while others wait is a limit, stated or not", () => {
    const input = mapTracks(
      syntheticRun({ faults: [{ ...queue, levels: { tensor_active_ratio: 0.35, gr_engine_active_ratio: 0.98, sm_active_ratio: 0.9 } }] }),
      (t) => (t.entity.kind === "server" ? { ...t, columns: { ...t.columns, running: t.columns.running!.map((v) => Math.min(6, v)) } } : t),
    );
    const e = mainOf(input);
    expect([e.class, e.kind, e.cause]).toEqual(["indeterminate", "other", "admission-limit"]);
  });

  it("an idle GPU beside a calm, measured CPU is no proof of the CPU", () => {
    const idle = { gr_engine_active_ratio: 0.3, sm_active_ratio: 0.15, gpu_util_ratio: 0.3, power_w: 150 };
    const e = mainOf(syntheticRun({ faults: [{ from: 60, to: 80, tpot: 2.5, levels: idle }] }));
    expect(e.class).toBe("indeterminate");
  });

  it("a server whose counters start again restarted, and no class is blamed", () => {
    const input = syntheticRun({ faults: [{ ...queue, waits: "outside", levels: { generation_tokens_total: 0 } }] });
    const reset = mapTracks(input, (t) =>
      t.entity.kind !== "server"
        ? t
        : { ...t, columns: { ...t.columns, success_total: t.ts_us.map((_, i) => (i < 65 ? 100 + i : i - 65)) } },
    );
    const e = mainOf(reset);
    expect([e.class, e.kind, e.cause]).toEqual(["indeterminate", "other", "restart-or-load"]);
    expect(mainOf(input).cause).not.toBe("restart-or-load");
  });

  it("an engine of the group that is fed long prompts holds the others up: compute, not communication", () => {
    const fault = CLEAR.communication!.faults![0]!;
    const input = syntheticRun({ gpus: 2, faults: [fault] });
    const server = input.telemetry.tracks.find((t) => t.entity.kind === "server")!;
    const engine = (rank: number, inFault: number): Track => {
      let total = 0;
      const tokens = server.ts_us.map((_, i) => {
        total += i >= 60 && i < 80 ? inFault : 4000;
        return total;
      });
      return {
        ...server,
        entity: { ...server.entity, key: `vllm:llm-0/${rank}`, labels: { ...server.entity.labels, rank: String(rank) } },
        columns: { ...server.columns, prompt_tokens_total: tokens },
      };
    };
    const with2 = (inFault: number): DiagnosisInput => ({
      ...input,
      telemetry: {
        ...input.telemetry,
        tracks: [...input.telemetry.tracks.filter((t) => t !== server), engine(0, 4000), engine(1, inFault)],
      },
    });
    const remote = mainOf(with2(60_000));
    expect([remote.class, remote.cause]).toEqual(["compute", "prefill-interference-remote-rank"]);
    expect(mainOf(with2(4000)).class).toBe("communication");
  });
});

describe("episodes", () => {
  it("of one fault that come apart in time are joined", () => {
    const fault = CLEAR.cpu_tokenization!.faults![0]!;
    const report = diagnose(
      syntheticRun({
        faults: [
          { ...fault, from: 40, to: 48 },
          { ...fault, from: 51, to: 60 },
        ],
      }),
      table,
    );
    expect(report.episodes.filter((e) => e.requests > 10)).toHaveLength(1);
  });

  it("twenty seconds apart stay two, of one kind or not", () => {
    const cpu = CLEAR.cpu_tokenization!.faults![0]!;
    for (const other of [cpu, CLEAR.bandwidth!.faults![0]!]) {
      const report = diagnose(
        syntheticRun({
          faults: [
            { ...cpu, from: 40, to: 50 },
            { ...other, from: 70, to: 80 },
          ],
        }),
        table,
      );
      expect(report.episodes.filter((e) => e.requests > 10)).toHaveLength(2);
    }
  });
});
