import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

const file = (name: string) => path.join(FIXTURES, "vllm-bench/0.11", name);
const SENT_US = Date.UTC(2026, 0, 2, 3, 4, 0) * 1000;

describe("vllm bench serve", () => {
  it("is never plotted at 1970: without an anchor its requests are refused, and how to anchor it is told", async () => {
    const { sink, outcome } = await importInto([file("detailed.json")]);
    expect(outcome.files[0]).toMatchObject({ format: "vllm-bench", requests: 0, rejected: { clock_not_anchored: 3 } });
    expect(outcome.range).toBeNull();
    expect(outcome.files[0]!.warnings.join()).toMatch(/not anchored.*--anchor TIME.*--anchor boot.*--anchor date.*20260102-030405/);
    expect(sink.facts).toEqual({ model: "acme/llama-8b", request_rate: "inf" });
  });

  it("with an anchor: latencies from the lists, a failed request without measurements, no text kept", async () => {
    const { sink } = await importInto([file("detailed.json")], { clock: { anchor: SENT_US } });
    expect(sink.views.map((v) => [v.request_id, v.start_us - SENT_US, v.status, v.ttft_ms, v.input_tokens, v.output_tokens])).toEqual([
      ["20260102-030405/0", 0, "ok", 100, 100, 3],
      ["20260102-030405/1", 1_500_000, "ok", 200, 200, 2],
      ["20260102-030405/2", 1_600_000, "error", null, 50, null],
    ]);
    expect(sink.views[0]!.e2e_ms).toBeCloseTo(220, 3);
    expect(sink.views[1]!.e2e_ms).toBeCloseTo(300, 3);
    expect([...sink.views[0]!.gaps_ms!]).toEqual([...new Float32Array([50, 70])]);
    expect(sink.views[0]).toMatchObject({ first_token_us: SENT_US + 100_000, end_us: SENT_US + 220_000, model: "acme/llama-8b" });
    expect(sink.views[2]).toMatchObject({ e2e_ms: null, gaps_ms: null, end_us: null, error: "error" });
    expect(JSON.stringify(sink)).not.toMatch(/answer|Traceback/);
  });

  it("by its date in a zone: the last request ends then", async () => {
    const { sink, outcome } = await importInto([file("detailed.json")], { clock: { anchor: "date", zone: "Asia/Tokyo" } });
    const end = Date.UTC(2026, 0, 1, 18, 4, 5) * 1000;
    expect(Math.max(...sink.views.map((v) => v.end_us ?? 0))).toBe(end);
    expect(outcome.files[0]!.warnings.join()).toMatch(/20260102-030405 in zone Asia\/Tokyo/);
  });

  it("by the machine's clock, unless that clock has not come so far", async () => {
    const boot_us = SENT_US - 10e6;
    const here = await importInto([file("detailed.json")], { clock: { anchor: "boot", boot_us, now_us: SENT_US + 3e6 } });
    expect(here.sink.views[0]!.start_us).toBe(SENT_US);
    const elsewhere = await importInto([file("detailed.json")], { clock: { anchor: "boot", boot_us, now_us: SENT_US - 5e6 } });
    expect(elsewhere.outcome.files[0]).toMatchObject({ requests: 0, rejected: { clock_not_anchored: 3 } });
  });

  it("several results in one file: each has its own clock, an aggregate and a cut line are counted", async () => {
    const { sink, outcome } = await importInto([file("appended.jsonl")], { clock: { anchor: SENT_US } });
    expect(outcome.files[0]).toMatchObject({ requests: 1, rejected: { aggregate: 1, truncated: 1 } });
    expect(sink.views[0]).toMatchObject({ request_id: "bench-7f-0", start_us: SENT_US, e2e_ms: 750 });
  });

  it("a result without start times cannot be placed, anchored or not", async () => {
    const { outcome } = await importInto([file("without-start-times.json")], { clock: { anchor: SENT_US } });
    expect(outcome.files[0]).toMatchObject({ requests: 0, rejected: { start_time: 2 } });
    expect(outcome.files[0]!.warnings.join()).toContain("no start_times");
  });
});
