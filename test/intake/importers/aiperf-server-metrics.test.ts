import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it("AIPerf server metrics: counters without _total, both histogram keys, the time half way of the fetch", async () => {
  const { sink, outcome } = await importInto([path.join(FIXTURES, "aiperf/0.14/server_metrics_export.jsonl")]);
  expect(outcome.files[0]).toMatchObject({ format: "aiperf-server-metrics", rejected: {} });
  const rows = sink.sampleRows.map(({ source, row }) => ({ source: source.name, key: row.entity.key, ts_us: row.ts_us, ...row.values }));
  expect(rows).toEqual([
    {
      source: "vllm",
      key: "vllm:node2:8000/0",
      // sent at 330.9 ms, first byte about half of the fetch before 333 ms
      ts_us: 1781000000331425,
      running: 3,
      prompt_tokens_total: 1000,
      kv_usage_ratio: 0.5,
      ttft_s_sum_total: 2.5,
      ttft_count_total: 6,
    },
    {
      source: "vllm",
      key: "vllm:node2:8000/0",
      ts_us: 1781000000666000,
      running: 4,
      prompt_tokens_total: 1500,
      ttft_s_sum_total: 3.5,
      ttft_count_total: 8,
    },
  ]);
  const buckets = sink.seriesRows.map(({ row }) => [row.metric, row.labels.le, row.value]);
  expect(buckets).toContainEqual(["vllm:time_to_first_token_seconds_bucket", "+Inf", 8]);
  expect(buckets).toHaveLength(6);
});
