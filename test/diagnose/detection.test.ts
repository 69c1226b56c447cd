import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();
const run = (options: Parameters<typeof syntheticRun>[0]) => diagnose(syntheticRun(options), table);

describe("what counts as slow", () => {
  it("quiet runs give at most one episode, under mild and heavy noise", () => {
    for (const noise of [0.02, 0.1, 0.2, 0.3]) expect(run({ seconds: 250, noise }).episodes.length).toBeLessThanOrEqual(1);
  });

  it("finds nearly all of a fault and nearly nothing else", () => {
    const report = run({ faults: [{ from: 60, to: 70, ttft_ms: 200, waits: "queue" }] });
    const slow = new Set(report.spikes.map((s) => s.request_id));
    const truth = Array.from({ length: 80 }, (_, i) => `req-${String(480 + i).padStart(5, "0")}`);
    expect(truth.filter((id) => slow.has(id)).length).toBeGreaterThanOrEqual(78);
    expect([...slow].filter((id) => !truth.includes(id)).length).toBeLessThanOrEqual(1);
  });

  it("finds a run in which most requests are slow, against its fastest stretch", () => {
    const report = run({ faults: [{ from: 40, to: 120, ttft_ms: 700, waits: "queue", levels: { kv_usage_ratio: 0.99 } }] });
    expect(report.spikes.length).toBeGreaterThan(600);
    expect(report.episodes[0]!.level_shift).toBe(true);
  });

  it("keeps two faults of different kinds close together apart", () => {
    const cpu = CLEAR.cpu_tokenization!.faults![0]!;
    const compute = CLEAR.compute!.faults![0]!;
    const report = run({
      faults: [
        { ...cpu, from: 40, to: 50 },
        { ...compute, from: 53, to: 63 },
      ],
    });
    const big = report.episodes.filter((e) => e.requests >= 40);
    expect(big.map((e) => e.class)).toEqual(["cpu_tokenization", "compute"]);
  });

  it("takes a limit as given: violations are spikes, and nothing else is below ten requests", () => {
    const input = syntheticRun({ seconds: 1, rate: 8 });
    expect(diagnose(input, table).spikes).toHaveLength(0);
    const limited = diagnose({ ...input, slo_ms: { ttft: 35 } }, table);
    const broken = [...input.requests.ttft_ms].filter((t) => t > 35).length;
    expect(limited.spikes.filter((s) => s.metric === "ttft")).toHaveLength(broken);
    expect(broken).toBeGreaterThan(0);
  });

  it("a small run is judged with a larger ratio and a capped confidence", () => {
    const report = run({ seconds: 3, rate: 8, faults: [{ ...CLEAR.compute!.faults![0]!, from: 1.5, to: 2 }] });
    expect(report.spikes.length).toBeGreaterThan(0);
    for (const e of report.episodes) expect(e.confidence ?? 0).toBeLessThanOrEqual(0.6);
  });

  it("failed requests are no latencies; cancelled ones are a lower bound", () => {
    const slow = { from: 60, to: 80, ttft_ms: 900, waits: "queue" as const };
    const failed = run({ faults: [slow], status: (i) => (i >= 480 && i < 640 ? 1 : 0) });
    expect(failed.spikes).toHaveLength(0);
    const cancelled = run({ faults: [slow], status: (i) => (i >= 480 && i < 640 ? 2 : 0) });
    expect(cancelled.spikes.length).toBeGreaterThan(100);
    expect(cancelled.spikes.every((s) => s.censored)).toBe(true);
  });

  it("percentiles that too few requests support are null", () => {
    const few = run({ seconds: 5, rate: 8 }).summary.ttft_ms;
    expect([few.p95, few.p99, few.n]).toEqual([null, null, 40]);
    expect(few.p50).toBeGreaterThan(0);
    expect(run({ seconds: 40, rate: 8 }).summary.ttft_ms.p99).toBeGreaterThan(0);
  });
});
