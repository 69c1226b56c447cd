import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

const file = (name: string) => path.join(FIXTURES, "inference-perf/0.2", name);
const SENT_US = 1_788_436_000_000_000;

describe("inference-perf", () => {
  it("requests on a monotonic clock: refused until anchored", async () => {
    const { outcome } = await importInto([file("per_request_lifecycle_metrics.json")]);
    expect(outcome.files[0]).toMatchObject({ requests: 0, rejected: { clock_not_anchored: 3, start_time: 1 } });
    expect(outcome.files[0]!.warnings.join()).toContain("--anchor");
  });

  it("requests of both layouts, once anchored", async () => {
    const { sink } = await importInto([file("per_request_lifecycle_metrics.json")], { clock: { anchor: SENT_US } });
    expect(sink.views.map((v) => [v.start_us - SENT_US, v.ttft_ms, v.e2e_ms, v.input_tokens, v.output_tokens, v.status])).toEqual([
      [0, 500, 1500, 40, 3, "ok"],
      [1_000_000, 125, 1000, 10, 1, "ok"],
      [2_000_000, null, 1000, 10, null, "timeout"],
    ]);
    expect([...sink.views[0]!.gaps_ms!]).toEqual([250, 500]);
    expect(JSON.stringify(sink)).not.toMatch(/prompt"|answer/);
  });

  it("an aggregate tells that the load generator was the limit", async () => {
    const { sink, outcome } = await importInto([file("stage_0_lifecycle_metrics.json")]);
    expect(outcome.files[0]).toMatchObject({ requests: 0, rejected: { aggregate: 1 } });
    expect(sink.facts.client_limited).toBe("schedule delay p50 5.0 s, achieved 11.3 of 20.0 requests/s");
    expect(outcome.files[0]!.warnings.join()).toContain("client-limited");
  });
});
