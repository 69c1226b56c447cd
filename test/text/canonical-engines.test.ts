import { describe, expect, it } from "vitest";
import { canonical, filesOf, fixture, readShared, sharedFolder } from "./canonical-reading.js";

const live = { node: "n", instance: "127.0.0.1:8000" };
const page = (file: string) => canonical(fixture(file), live);
const metrics = (file: string): Set<string> => new Set(page(file).series.map((s) => s.metric));

describe("TGI pages", () => {
  it("reads counters without _total, token totals from the sums of sizes, prefill from its steps", () => {
    expect(page("tgi/3/busy.prom").of("tgi:127.0.0.1:8000/0")).toEqual({
      running: 16,
      waiting: 4,
      prompt_tokens_total: 52_000,
      generation_tokens_total: 20_000,
      success_total: 100,
      aborted_total: 5,
      e2e_s_sum_total: 420,
      e2e_count_total: 100,
      queue_s_sum_total: 12.5,
      queue_count_total: 100,
      prefill_s_sum_total: 16,
      prefill_count_total: 80,
      itl_s_sum_total: 2.25,
      itl_count_total: 100,
      iteration_tokens_count_total: 4080,
      gpu_execution_s_total: 95,
    });
    expect(metrics("tgi/3/busy.prom")).toContain("tgi_request_validation_duration_bucket");
  });

  it("reads a label value that holds braces and quotes", () => {
    expect(page("tgi/3/adapter.prom").of("tgi:127.0.0.1:8000/0")).toEqual({
      waiting: 0,
      prefill_s_sum_total: 9.5,
      prefill_count_total: 215,
    });
  });
});

describe("TensorRT-LLM pages", () => {
  it("reads queue, KV cache in tokens and histograms without an infinite bound", () => {
    const read = page("trtllm/1.1/busy.prom");
    expect(read.of("trtllm:127.0.0.1:8000/0")).toEqual({
      running: 9,
      waiting: 3,
      max_running: 64,
      retracted: 1,
      kv_usage_ratio: 0.85,
      kv_capacity_tokens: 32_000,
      prompt_tokens_total: 5000,
      generation_tokens_total: 700,
      success_total: 155,
      ttft_s_sum_total: 9.3,
      ttft_count_total: 155,
      queue_s_sum_total: 3.1,
      queue_count_total: 155,
    });
    expect(read.series.filter((s) => s.metric.endsWith("_bucket")).map((s) => s.labels.le)).toEqual(["0.01", "0.05"]);
    expect(page("trtllm/1.1/early-dynamo.prom").of("trtllm:127.0.0.1:8000/0")).toEqual({ running: 9, waiting: 3, max_running: 64 });
  });
});

describe("Triton pages", () => {
  it("counts an ensemble's requests once, prefers used over max blocks and flags the contradiction", () => {
    const read = page("triton/24/trtllm-backend.prom");
    expect(read.of("triton:127.0.0.1:8000/0")).toEqual({
      running: 12,
      waiting: 7,
      max_running: 512,
      kv_usage_ratio: 1 / 6239,
      kv_capacity_tokens: 6239 * 64,
      success_total: 59,
      aborted_total: 1,
      e2e_s_sum_total: 118,
      e2e_count_total: 59,
      queue_s_sum_total: expect.closeTo(59e-6, 12),
      queue_count_total: 59,
    });
    expect(read.summary.rejected).toEqual({ triton: { conflict: 1 } });
    expect(read.of("GPU-00000001-0000-4000-8000-000000000001")).toEqual({ gpu_util_ratio: 0.75, fb_used_bytes: 4e10, power_w: 412.5 });
  });

  it("takes both totals of the queue from the summary where there is one; milliseconds become seconds", () => {
    const read = page("triton/24/summaries.prom");
    expect(read.of("triton:127.0.0.1:8000/0")).toEqual({
      waiting: 2,
      success_total: 161,
      e2e_count_total: 161,
      queue_s_sum_total: 0.0112,
      queue_count_total: 160,
      ttft_s_sum_total: 16.1,
      ttft_count_total: 161,
    });
    expect(read.series.map((s) => [s.metric, s.labels])).toEqual([
      ["nv_inference_queue_summary_us", { model: "my_model", version: "1", quantile: "0.5" }],
    ]);
  });
});

describe("Dynamo pages", () => {
  it("does not take requests before their first token for waiting ones", () => {
    const read = page("dynamo/1/frontend.prom");
    expect(read.of("dynamo:127.0.0.1:8000/0")).toEqual({
      running: 12,
      kv_capacity_tokens: 64_000,
      max_running: 256,
      success_total: 40,
      aborted_total: 2,
      generation_tokens_total: 4000,
      prompt_tokens_total: 80_000,
      ttft_s_sum_total: 8,
      ttft_count_total: 40,
    });
    expect(read.labels("dynamo:127.0.0.1:8000/0")).toMatchObject({ engine: "dynamo", model: "acme/llama-8b" });
  });

  it("reads a worker's own figures and the engine's beside them", () => {
    const read = page("dynamo/0.7/worker.prom");
    expect(read.of("dynamo:127.0.0.1:8000/backend")).toEqual({
      success_total: 42,
      e2e_s_sum_total: 2.5,
      e2e_count_total: 42,
      kv_usage_ratio: 0.93,
    });
    expect(read.of("vllm:127.0.0.1:8000/0")).toEqual({ running: 12, waiting: 0 });
    expect(read.summary.engines).toEqual(["dynamo", "vllm"]);
  });
});

describe("llama.cpp, LMDeploy and LiteLLM pages", () => {
  it("llama.cpp: tokens per second are no seconds", () => {
    const read = page("llamacpp/2025/server.prom");
    expect(read.of("llamacpp:127.0.0.1:8000/0")).toEqual({
      running: 3,
      waiting: 1,
      kv_usage_ratio: 0.25,
      prompt_tokens_total: 6000,
      generation_tokens_total: 3000,
      prefill_s_sum_total: 30.5,
      decode_s_sum_total: 75.25,
      iteration_tokens_count_total: 2500,
    });
    expect(read.series.map((s) => s.metric).sort()).toEqual(["llamacpp:predicted_tokens_seconds", "llamacpp:prompt_tokens_seconds"]);
  });

  it("LMDeploy: ranks stay apart, so that a full one is seen beside an empty one", () => {
    const read = page("lmdeploy/0.10/dp2.prom");
    expect(read.of("lmdeploy:127.0.0.1:8000/0")).toEqual({
      running: 5,
      waiting: 0,
      kv_usage_ratio: 0.4,
      generation_tokens_total: 900,
      itl_s_sum_total: 12,
      itl_count_total: 600,
    });
    expect(read.of("lmdeploy:127.0.0.1:8000/1")).toEqual({ running: 6, waiting: 2, kv_usage_ratio: 0.97 });
  });

  it("LiteLLM: one gateway, users added up and nowhere kept", () => {
    const read = page("litellm/1.81/proxy.prom");
    expect(read.of("litellm:127.0.0.1:8000/0")).toEqual({
      running: 4,
      success_total: 42,
      aborted_total: 2,
      prompt_tokens_total: 5000,
      generation_tokens_total: 700,
      e2e_s_sum_total: 50,
      e2e_count_total: 42,
    });
    expect(JSON.stringify([read.samples, read.series, read.summary])).not.toMatch(/person|88dc28|alias|u1/);
  });
});

const servers = sharedFolder("samples/server-metrics");
const engineOf = (file: string): string => /^(tgi|triton|trtllm|dynamo|llamacpp)/.exec(file)![1]!;

describe.skipIf(servers === null)("real pages of the other servers (skipped only where ../shared/samples is not there)", () => {
  const files = filesOf(servers).filter((f) => /^(tgi|triton|trtllm|dynamo|llamacpp).*\.prom$/.test(f));

  it.each(files)("%s: its engine, finite values", (file) => {
    const read = canonical(readShared(servers!, file), live);
    expect(read.summary.engines).toEqual([file.includes("via-dynamo") ? "trtllm" : engineOf(file)]);
    expect(read.samples.length).toBeGreaterThan(0);
    for (const s of read.samples) expect(Object.values(s.values).every(Number.isFinite)).toBe(true);
    expect(read.summary.rejected).toEqual(file.includes("nv_trt_llm") ? { triton: { conflict: 1 } } : {});
  });

  it("gets the figures that are known of the pages", () => {
    const values = (file: string) => canonical(readShared(servers!, file), live).samples[0]!.values;
    const queue = values("triton-queue-summary-quantiles.prom");
    expect((queue.queue_s_sum_total! / queue.queue_count_total!) * 1e6).toBeCloseTo(69, 1);
    expect(values("triton-trtllm-backend-nv_trt_llm.prom")).toMatchObject({ running: 1, waiting: 1, kv_usage_ratio: 1 / 6239 });
    const component = values("dynamo-component-doc-sample.prom");
    expect((component.e2e_s_sum_total! / component.e2e_count_total!) * 1000).toBeCloseTo(59.5, 1);
    expect(values("dynamo-frontend-mocker-idle-2026-04.prom")).toEqual({ max_running: 256 });
    const viaDynamo = values("trtllm-via-dynamo-doc-no-inf-bucket.prom");
    expect(viaDynamo).toMatchObject({ success_total: 155, ttft_count_total: 150 });
    expect((viaDynamo.ttft_s_sum_total! / viaDynamo.ttft_count_total!) * 1000).toBeCloseTo(58.3, 1);
    expect(values("llamacpp-ik-2025-08-cpu-heavy.prom")).toMatchObject({ kv_usage_ratio: 0.491063, prompt_tokens_total: 6886 });
    expect(values("tgi-fixture-counters-without-_total.prom")).toMatchObject({
      running: 5,
      waiting: 3,
      prompt_tokens_total: 18_000,
      generation_tokens_total: 12_500,
      iteration_tokens_count_total: 4650,
    });
    expect(values("triton-ensemble-success-double-count-excerpt.prom").success_total).toBe(59);
  });
});
