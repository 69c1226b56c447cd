import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../schemas/diagnosis-input.js";
import type { Report } from "../../schemas/report.js";
import type { RequestLife } from "../../schemas/request-life.js";
import { readDiagnosisInput } from "../../src/cli/correlation.js";
import { explainRequest } from "../../src/cli/explain-request.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { requestLife } from "../../src/diagnose/request-life.js";
import { lifeText } from "../../src/report/text-life.js";
import { openStore } from "../../src/store/open-store.js";
import { endAgents, tempDir } from "../agent/agent-bench.js";
import { cli } from "./run-in-process.js";

const FIXTURE = fileURLToPath(new URL("../fixtures/lab/kv_cache/", import.meta.url));

let database: string;
let report: Report;
let input: DiagnosisInput;
const table = defaultDecisionTable();

beforeAll(async () => {
  database = path.join(tempDir(), "explain.db");
  const files = ["telemetry.om.gz", "traces.otlp.jsonl.gz"].map((f) => path.join(FIXTURE, f));
  const imported = await cli(["import", "kv", ...files, "--db", database]);
  expect(imported.err).not.toContain("error");
  const store = openStore(database, { mode: "read" });
  input = readDiagnosisInput(store, { select: { run: "kv" }, slo_ms: {} });
  store.close();
  report = diagnose(input, table);
  return endAgents;
});

const slowId = (): string => report.spikes.find((s) => s.metric === "ttft")!.request_id;
const quietId = (): string => input.requests.request_id.find((id) => !report.spikes.some((s) => s.request_id === id))!;
const explain = (...args: string[]) => cli(["correlate", "kv", "--db", database, "--explain", ...args]);

describe("correlate --explain", () => {
  it("shows phases that add up to the request's time, what ran beside it, and all evidence of its episode", () => {
    const life = requestLife(input, table, report, slowId())!;
    const e2e = life.metrics.find((m) => m.metric === "e2e")!.observed_ms;
    expect(life.phases.reduce((sum, p) => sum + p.observed_ms, 0)).toBeCloseTo(e2e, 1);
    for (const [i, p] of life.phases.entries()) if (i > 0) expect(p.start_ms).toBeGreaterThanOrEqual(life.phases[i - 1]!.start_ms);
    expect(life.episodes.map((e) => e.id)).toEqual([report.spikes.find((s) => s.request_id === slowId())!.episode]);
    const spike = report.spikes.find((s) => s.request_id === slowId() && s.metric === "ttft")!;
    const ttft = life.metrics.find((m) => m.metric === "ttft")!;
    expect([ttft.slow, ttft.observed_ms, ttft.expected_ms]).toEqual([true, spike.observed_ms, spike.expected_ms]);
    expect(life.beside.map((l) => l.what)).toContain("requests in flight");
    for (const l of life.beside) expect(l.most).toBeGreaterThanOrEqual(l.mean);
    const text = lifeText(life, 100);
    for (const row of life.episodes[0]!.evidence) expect(text).toContain(row.fact);
  });

  it("lists the longest prefills of others first, and its own not", () => {
    const life = requestLife(input, table, report, quietId())!;
    expect(life.prefills!.total).toBeGreaterThanOrEqual(life.prefills!.longest.length);
    const longest = life.prefills!.longest.map((p) => p.overlap_ms);
    expect([...longest].sort((a, b) => b - a)).toEqual(longest);
    expect(life.prefills!.longest.map((p) => p.request_id)).not.toContain(life.request_id);
  });

  it("says of a request that was not slow that it was not, with observed against expected", async () => {
    const { status, out } = await explain(quietId());
    expect(status).toBe(0);
    expect(out).toContain("not slow: what its own work explains");
    expect(out).toMatch(/TTFT +[\d.]+ m?s +[\d.]+ m?s +[\d.]+x/);
    expect(out).not.toContain("its episode");
  });

  it("gives the same as JSON, and nothing else", async () => {
    const { status, out, err } = await explain(slowId(), "--json");
    expect([status, err]).toEqual([0, ""]);
    const life = JSON.parse(out) as RequestLife;
    expect(life).toEqual(JSON.parse(JSON.stringify(requestLife(input, table, report, slowId()))));
    expect(life.schema).toBe("whyslow.request/v1");
  });

  it.each([60, 72, 80, 100, 140])("fits %i columns and one screen", (width) => {
    for (const id of [slowId(), quietId()]) {
      const lines = lifeText(requestLife(input, table, report, id)!, width).split("\n");
      expect(Math.max(...lines.map((l) => l.length))).toBeLessThanOrEqual(width);
      if (width >= 80) expect(lines.length).toBeLessThanOrEqual(60);
    }
  });

  it("refuses an id that is not there, and names those that look like it", async () => {
    const { status, err } = await explain(`${slowId()}-0`);
    expect(status).toBe(2);
    expect(err).toContain(`did you mean ${slowId()}?`);
    expect(() => explainRequest(input, table, report, "no such")).toThrow(/no request 'no such' among the \d+/);
  });
});
