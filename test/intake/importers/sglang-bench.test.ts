import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it("SGLang's bench_serving: no times; its figures are told, its requests counted", async () => {
  const { outcome } = await importInto([path.join(FIXTURES, "sglang-bench/0.5/details.jsonl")]);
  expect(outcome.files[0]).toMatchObject({ format: "sglang-bench", requests: 0, rejected: { start_time: 2 } });
  expect(outcome.files[0]!.warnings.join()).toMatch(/no times.*2 requests.*duration 12.5 s, mean ttft 210.3 ms/);
});
