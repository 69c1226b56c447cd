import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it("llm-load-test: epoch seconds beside milliseconds; errors and monotonic stamps apart", async () => {
  const { sink, outcome } = await importInto([path.join(FIXTURES, "llm-load-test/0.1/report.json")]);
  expect(outcome.files[0]).toMatchObject({ format: "llm-load-test", requests: 2, rejected: { clock_not_anchored: 1 } });
  expect(sink.views[0]).toMatchObject({
    start_us: 1_788_436_000_500_000,
    first_token_us: 1_788_436_000_750_000,
    end_us: 1_788_436_001_500_000,
    ttft_ms: 250,
    e2e_ms: 1000,
    output_tokens: 5,
    model: "acme/llama-8b",
    route: "user 0",
  });
  expect(sink.views[1]).toMatchObject({ status: "error", error: "error (503)", ttft_ms: null });
  expect(JSON.stringify(sink)).not.toMatch(/prompt"|answer|unavailable/);
});
