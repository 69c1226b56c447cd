import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

const file = (name: string) => path.join(FIXTURES, "request-form/1", name);

describe("the request form", () => {
  it("as CSV: quoted cells, local times by zone, one bad row never costs its neighbours", async () => {
    const { sink, outcome } = await importInto([file("requests.csv")], { clock: { zone: "Europe/Berlin" } });
    expect(outcome.files[0]).toMatchObject({
      format: "request-form",
      requests: 2,
      rejected: { request_id: 1, start_time: 1, syntax: 1, status: 1 },
    });
    const start = Date.UTC(2026, 8, 3, 9, 7, 54, 250) * 1000;
    expect(sink.views[0]).toMatchObject({
      request_id: "r-1",
      start_us: start,
      first_token_us: start + 120_000,
      end_us: start + 900_500,
      ttft_ms: 120,
      e2e_ms: 900.5,
      status: "ok",
      conversation_id: "c-1",
    });
    expect([...sink.views[0]!.gaps_ms!]).toEqual([10, 20, 30.5]);
    // 11:07:55 in Berlin, in summer
    expect(sink.views[1]).toMatchObject({
      start_us: Date.UTC(2026, 8, 3, 9, 7, 55) * 1000,
      e2e_ms: null,
      status: "open",
      output_tokens: null,
    });
    expect(sink.views[1]!.model).toBe("acme, the model");
  });

  it("as JSON lines: units in the names, nanoseconds exact, a server's view", async () => {
    const { sink, outcome } = await importInto([file("requests.jsonl")]);
    expect(outcome.files[0]).toMatchObject({ requests: 2, rejected: { clock_not_anchored: 1, end_before_start: 1 } });
    expect(sink.views[0]).toMatchObject({
      view: "server",
      start_us: 1_788_436_000_123_456,
      ttft_ms: 100,
      e2e_ms: 1000,
      queue_ms: 50,
      warmup: true,
      server: { url: "10.0.0.5:8000" },
    });
    expect(sink.views[1]).toMatchObject({ start_us: 1_788_436_002_500_000, ttft_ms: 250, end_us: 1_788_436_003_500_000, status: "error" });
  });
});
