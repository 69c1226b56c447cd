import { describe, expect, it } from "vitest";
import type { DiagnosisInput, EntityKind, Track } from "../../schemas/index.js";
import { serverGroups } from "../../src/diagnose/server-groups.js";
import { toRequestColumns } from "../../src/time/request-columns.js";

const track = (kind: EntityKind, key: string, labels: Record<string, string>): Track => ({
  source: { name: "s", node: "n", imported: false, interval_ms: 1000, window_ms: null, lag_ms: null, rejected: {} },
  entity: { kind, node: "n", key, labels },
  ts_us: Float64Array.of(1e6, 2e6),
  epoch: new Int32Array(2),
  columns: { gr_engine_active_ratio: Float64Array.of(0.5, 0.5) },
});

const input = (tracks: Track[]): DiagnosisInput => ({
  run: { id: "r", start_us: 0, end_us: 3e6, manifest: {} },
  requests: toRequestColumns([]).requests,
  telemetry: { tracks, histograms: [], marks: [] },
  clock: { offset_ms: null, uncertainty_ms: null, method: "none", joined: 0 },
  warnings: [],
  slo_ms: {},
});

const keys = (list: readonly (readonly Track[])[]): string[] => list.map((e) => e[0]!.entity.key);

describe("what belongs to which server", () => {
  it("is told live by the target's name, and for GPUs by the processes that own them", () => {
    const groups = serverGroups(
      input([
        track("server", "vllm:127.0.0.1:8000/0", { server: "chat", url: "http://127.0.0.1:8000" }),
        track("server", "vllm:127.0.0.1:8001/0", { server: "code", url: "http://127.0.0.1:8001" }),
        track("process", "proc:10:1", { role: "api_server", pid: "10", server: "chat" }),
        track("process", "proc:20:1", { role: "engine", pid: "20", server: "code" }),
        track("gpu", "GPU-a", { pids: "10,11" }),
        track("gpu", "GPU-b", { pids: "20" }),
        track("gpu", "GPU-c", { pids: "" }),
      ]),
    );
    expect(groups.map((g) => [keys(g.processes), keys(g.gpus)])).toEqual([
      [["proc:10:1"], ["GPU-a"]],
      [["proc:20:1"], ["GPU-b"]],
    ]);
  });
  it("is told by pods, several on one GPU included", () => {
    const groups = serverGroups(
      input([
        track("server", "vllm:llm-0/0", { pod: "llm-0" }),
        track("server", "vllm:llm-1/0", { pod: "llm-1" }),
        track("gpu", "GPU-a", { pod: "llm-0,llm-1" }),
        track("gpu", "GPU-b", { pod: "llm-1" }),
      ]),
    );
    expect(groups.map((g) => keys(g.gpus))).toEqual([["GPU-a"], ["GPU-a", "GPU-b"]]);
  });
  it("is nothing when several servers are there and nobody says whose it is", () => {
    const groups = serverGroups(input([track("server", "vllm:a/0", {}), track("server", "vllm:b/0", {}), track("gpu", "GPU-a", {})]));
    expect(groups.map((g) => keys(g.gpus))).toEqual([[], []]);
  });
});
