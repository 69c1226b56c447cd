import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it.each([
  ["mooncake/trace.jsonl", 2],
  ["azure/trace.csv", 2],
  ["burstgpt/trace.csv", 1],
])("%s holds arrivals without latencies: counted, told, nothing to diagnose", async (name, rows) => {
  const { sink, outcome } = await importInto([path.join(FIXTURES, "arrival-trace", name)]);
  expect(outcome.files[0]).toMatchObject({ format: "arrival-trace", requests: 0, rejected: { no_latency: rows } });
  expect(outcome.files[0]!.warnings.join()).toContain("nothing to diagnose");
  expect(sink.views).toEqual([]);
});
