import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

const file = (version: string) => path.join(FIXTURES, "aiperf", version, "profile_export.jsonl");

describe("AIPerf request records", () => {
  it("of the first generation: old names, unit read, nanoseconds exact, the cut last line counted", async () => {
    const { sink, outcome } = await importInto([file("2025-10")]);
    expect(outcome.files[0]).toMatchObject({ format: "aiperf", requests: 2, rejected: { truncated: 1 } });
    const [first, second] = sink.views;
    expect(first).toMatchObject({
      request_id: "1ed40a0d-0000-4000-8000-000000000001",
      view: "client",
      start_us: 1759522419159192,
      end_us: 1759522427096160,
      ttft_ms: 1680.543782,
      first_token_us: 1759522419159192 + 1680544,
      input_tokens: 550,
      output_tokens: 193,
      status: "ok",
      warmup: false,
      conversation_id: "3c4b8803",
      turn_index: 0,
      route: "worker_43e91c09",
      scheduled_us: null,
    });
    expect(first?.e2e_ms).toBeCloseTo(7936.968269, 9);
    expect([...(first?.gaps_ms ?? [])]).toEqual([...new Float32Array([134.44, 141.31, 22.75])]);
    expect(second).toMatchObject({
      status: "cancelled",
      warmup: true,
      error: "RequestCancellationError (499)",
      ttft_ms: null,
      gaps_ms: null,
    });
  });

  it("of the later generation: schedule, units of every kind, errors, refusals by reason", async () => {
    const { sink, outcome } = await importInto([file("0.14")]);
    expect(outcome.files[0]?.rejected).toEqual({ clock_not_anchored: 1, request_id: 1, end_before_start: 1, syntax: 2 });
    const [ok, timeout, cancelled] = sink.views;
    expect(ok).toMatchObject({
      scheduled_us: 1781000000000999,
      start_us: 1781000000001000,
      end_us: 1781000001001000,
      ttft_ms: 250,
      e2e_ms: 1000.0009,
      first_token_us: 1781000000251000,
      status: "ok",
      error: null,
    });
    expect([...(ok?.gaps_ms ?? [])]).toEqual([10, 20]);
    expect(timeout).toMatchObject({ status: "timeout", error: "ReadTimeoutError (500)", input_tokens: 77, turn_index: 1 });
    expect(cancelled).toMatchObject({ status: "cancelled", e2e_ms: null });
    expect(JSON.stringify(sink)).not.toContain("prompt");
    expect(outcome.range).toEqual({ start_us: 1781000000001000, end_us: 1781000060002000 });
  });

  it("belong to the run, to the node that was named, and to nothing else", async () => {
    const { sink } = await importInto([file("0.14")], { node: "n7" });
    expect(sink.requestRows[0]?.source).toMatchObject({ name: "aiperf", node: "n7", run: "r1" });
  });
});
