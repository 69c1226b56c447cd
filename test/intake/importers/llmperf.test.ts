import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it("LLMPerf: no times, so that its requests are counted and cannot be placed, whatever the anchor", async () => {
  const { outcome } = await importInto([path.join(FIXTURES, "llmperf/2.0/individual_responses.json")], { clock: { anchor: 1.7e15 } });
  expect(outcome.files[0]).toMatchObject({ format: "llmperf", requests: 0, rejected: { start_time: 2 } });
  expect(outcome.files[0]!.warnings.join()).toContain("writes no times");
});
