import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput, RequestColumns, Track } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();

/** The first `n` requests of a run. */
const firstRequests = (all: RequestColumns, n: number): RequestColumns => ({
  ...(Object.fromEntries(
    Object.entries(all).map(([k, v]) => [k, ArrayBuffer.isView(v) ? (v as Float64Array).slice(0, n) : v]),
  ) as unknown as RequestColumns),
  n,
  gap_offset: new Uint32Array(n + 1),
});

const withServer = (input: DiagnosisInput, columns: (ts: number, i: number) => Record<string, number>): DiagnosisInput => ({
  ...input,
  telemetry: {
    ...input.telemetry,
    tracks: input.telemetry.tracks.map((t): Track => {
      if (t.entity.kind !== "server") return t;
      const rows = [...t.ts_us].map(columns);
      return {
        ...t,
        columns: { ...t.columns, ...Object.fromEntries(Object.keys(rows[0]!).map((k) => [k, Float64Array.from(rows, (r) => r[k]!)])) },
      };
    }),
  },
});

describe("episodes that no request shows", () => {
  it("come from the means of the latency histograms, with a capped confidence and no spikes", () => {
    const run = syntheticRun(CLEAR.kv_cache!);
    let sum = 0;
    let count = 0;
    const input = withServer({ ...run, requests: firstRequests(run.requests, 0) }, (_, i) => {
      sum += i >= 60 && i < 80 ? 8 * 1.5 : 8 * 0.05;
      count += 8;
      return { ttft_s_sum_total: sum, ttft_count_total: count, waiting: i >= 60 && i < 80 ? 12 : 0, running: 9 };
    });
    const report = diagnose(input, table);
    expect(report.spikes).toEqual([]);
    expect(report.episodes).toHaveLength(1);
    const e = report.episodes[0]!;
    expect([e.basis, e.class, e.metric]).toEqual(["histogram", "kv_cache", "ttft"]);
    expect(e.confidence).toBeLessThanOrEqual(0.7);
  });

  it("come from a server that runs requests and makes no token", () => {
    let tokens = 0;
    const run = syntheticRun({ seconds: 100 });
    const input = withServer({ ...run, requests: firstRequests(run.requests, 0) }, (_, i) => {
      tokens += i >= 40 && i < 52 ? 0 : 800;
      return { generation_tokens_total: tokens, prompt_tokens_total: tokens, running: 9, waiting: 0 };
    });
    const e = diagnose(input, table).episodes;
    expect(e.map((x) => [x.basis, Math.round(x.excess_ms / 1000)])).toEqual([["telemetry", 12]]);
  });

  it("are not made of an idle server or of its resets", () => {
    const run = syntheticRun({ seconds: 100 });
    const input = withServer({ ...run, requests: firstRequests(run.requests, 0) }, (_, i) => ({
      generation_tokens_total: i < 50 ? 800 * i : 0,
      running: i < 50 ? 9 : 0,
      waiting: 0,
    }));
    expect(diagnose(input, table).episodes).toEqual([]);
  });
});
