import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it("perf_analyzer: the first answer with text is the first token; role-only chunks, [DONE] and empty answers are none", async () => {
  const { sink, outcome } = await importInto([path.join(FIXTURES, "perf-analyzer/25.02/profile_export.json")]);
  expect(outcome.files[0]).toMatchObject({ format: "perf-analyzer", requests: 4, rejected: { end_before_start: 1 } });
  const [streamed, whole, failed, plain] = sink.views;
  const start = 1_788_436_000_000_000;
  expect(streamed).toMatchObject({
    request_id: "chatcmpl-a1",
    join_id: "a1",
    start_us: start,
    first_token_us: start + 200_000,
    end_us: start + 281_000,
    ttft_ms: 200,
    e2e_ms: 281,
    input_tokens: 33,
    output_tokens: 3,
    model: "acme/llama-8b",
    conversation_id: "7",
    status: "ok",
  });
  expect([...streamed!.gaps_ms!]).toEqual([30, 50]);
  expect(whole).toMatchObject({ request_id: "chatcmpl-a2", ttft_ms: null, e2e_ms: 500, output_tokens: 8, gaps_ms: null });
  expect(failed).toMatchObject({ status: "error", error: "no answer", end_us: null });
  expect(plain).toMatchObject({ ttft_ms: 100, e2e_ms: 200, status: "ok" });
  expect(JSON.stringify(sink)).not.toMatch(/the prompt|answer\./);
});
