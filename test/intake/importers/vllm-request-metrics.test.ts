import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it("vLLM V0 RequestMetrics: a difference of two clocks is no time in the queue", async () => {
  const { sink, outcome } = await importInto([path.join(FIXTURES, "vllm-request-metrics/0.6/dump.jsonl")]);
  expect(outcome.files[0]).toMatchObject({
    format: "vllm-request-metrics",
    requests: 1,
    rejected: { clock_not_anchored: 1, mixed_clocks: 1 },
  });
  expect(sink.views[0]).toMatchObject({
    view: "server",
    start_us: 1_788_436_000_250_000,
    queue_ms: 1000,
    prefill_ms: 1000,
    decode_ms: 1750,
    ttft_ms: 2000,
    e2e_ms: 4000,
  });
});
