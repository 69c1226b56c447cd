import { describe, expect, it } from "vitest";
import { canonical, fixture, LIVE_US } from "./canonical-reading.js";

describe("vLLM pages", () => {
  it("reads a busy V1 engine: parts of a whole are added once, breakdowns and creation times are not", () => {
    const read = canonical(fixture("vllm/0.17/busy.prom"), {
      node: "n",
      instance: "127.0.0.1:8000",
      server_labels: { url: "http://127.0.0.1:8000" },
    });
    expect(read.samples).toHaveLength(1);
    expect(read.samples[0]!.entity).toEqual({
      kind: "server",
      node: "n",
      key: "vllm:127.0.0.1:8000/0",
      labels: { engine: "vllm", rank: "0", model: "acme/llama-8b", url: "http://127.0.0.1:8000" },
    });
    expect(read.samples[0]!.values).toEqual({
      running: 12,
      waiting: 6,
      kv_usage_ratio: 0.97,
      kv_capacity_tokens: 1_626_000,
      preemptions_total: 3,
      prompt_tokens_total: 81_234,
      prompt_tokens_cached_total: 1234,
      generation_tokens_total: 4567,
      prefix_queries_total: 90_000,
      prefix_hits_total: 1234,
      success_total: 48,
      aborted_total: 2,
      estimated_flops_total: 1.5e15,
      iteration_tokens_sum_total: 5000,
      iteration_tokens_count_total: 100,
      ttft_s_sum_total: 12.5,
      ttft_count_total: 48,
      itl_s_sum_total: 90.25,
      itl_count_total: 4519,
      e2e_s_sum_total: 99,
      e2e_count_total: 48,
      queue_s_sum_total: 3.5,
      queue_count_total: 48,
      process_cpu_s_total: 16.22,
      process_start_time_s: 1_774_011_384.6,
    });
    expect(read.summary.rejected).toEqual({});
    expect(read.summary.engines).toEqual(["vllm"]);
    expect(read.summary.manifest).toEqual({ model: "acme/llama-8b", engine: "vllm" });
  });

  it("keeps buckets and breakdowns as series, with bounds written one way", () => {
    const { series } = canonical(fixture("vllm/0.17/busy.prom"));
    const ttft = series.filter((s) => s.metric === "vllm:time_to_first_token_seconds_bucket");
    expect(ttft.map((s) => [s.labels, s.type, s.value, s.ts_us])).toEqual([
      [{ le: "0.1" }, "counter", 20, LIVE_US],
      [{ le: "1" }, "counter", 44, LIVE_US],
      [{ le: "+Inf" }, "counter", 48, LIVE_US],
    ]);
    const names = new Set(series.map((s) => s.metric));
    expect(names).toContain("vllm:num_requests_waiting_by_reason");
    expect(names).toContain("vllm:prompt_tokens_by_source_total");
    expect([...names].filter((n) => n.includes("_created") || n.endsWith("_sum"))).toEqual([]);
    expect(series.find((s) => s.metric === "vllm:num_requests_waiting_by_reason")).toMatchObject({
      labels: { reason: "capacity" },
      type: "gauge",
    });
  });

  it("prefers the newer of two names of one number", () => {
    expect(canonical(fixture("vllm/0.11/both-itl-names.prom")).samples[0]!.values).toEqual({
      running: 2,
      kv_usage_ratio: 0.5,
      itl_s_sum_total: 1.25,
      itl_count_total: 7,
    });
  });

  it("reads V0: no engine label, capacity from its configuration, NaN is unknown", () => {
    const read = canonical(fixture("vllm/0.5/v0.prom"));
    expect(read.of("vllm:acme/llama-8b/0")).toEqual({
      kv_capacity_tokens: 116_496,
      running: 1,
      swapped: 0,
      kv_usage_ratio: 0.31,
      preemptions_total: 0,
      prompt_tokens_total: 5,
      generation_tokens_total: 7,
    });
    expect(read.summary.rejected).toEqual({ vllm: { not_finite: 1 } });
  });

  it("reads the names that Ray Serve and OpenTelemetry write", () => {
    const text =
      'ray_vllm_num_requests_running{engine="0",WorkerId="w"} 3\nvllm_num_requests_waiting{engine="0"} 4\nray_vllm_num_preemptions_total{engine="0",WorkerId="w"} 1\n';
    expect(canonical(text, { instance: "a:1" }).of("vllm:a:1/0")).toEqual({ running: 3, waiting: 4, preemptions_total: 1 });
  });

  it("keeps data-parallel ranks apart and says nothing of what one of them does not print", () => {
    const rows = [4, 5, 6, 7].map((rank, i) => `vllm:num_requests_running{engine="${rank}",model_name="m"} ${[3, 1, 0, 2][i]}\n`).join("");
    const read = canonical(`${rows}vllm:num_requests_waiting{engine="4",model_name="m"} 0\n`);
    expect(read.samples.map((s) => [s.entity.key, s.values])).toEqual([
      ["vllm:m/4", { running: 3, waiting: 0 }],
      ["vllm:m/5", { running: 1 }],
      ["vllm:m/6", { running: 0 }],
      ["vllm:m/7", { running: 2 }],
    ]);
  });

  it("keeps two models behind one address apart", () => {
    const read = canonical('vllm:num_requests_running{model_name="a"} 1\nvllm:num_requests_running{model_name="b"} 2\n', {
      instance: "h:1",
    });
    expect(read.samples.map((s) => [s.entity.key, s.values.running])).toEqual([
      ["vllm:h:1/a/0", 1],
      ["vllm:h:1/b/0", 2],
    ]);
  });

  it("believes a line's own timestamp only near to the scrape", () => {
    const read = (ts: number) => canonical(`vllm:num_requests_waiting{engine="0"} 2 ${ts}\n`).samples[0]!.ts_us;
    expect(read(1_712_345_678_000)).toBe(LIVE_US);
    expect(read(LIVE_US / 1000 - 2000)).toBe(LIVE_US - 2e6);
  });

  it("refuses negative counts and keeps the rest of the page", () => {
    const read = canonical('vllm:num_requests_waiting{engine="3"} -4\nvllm:num_requests_running{engine="3"} 1\n');
    expect(read.samples.map((s) => s.values)).toEqual([{ running: 1 }]);
    expect(read.summary.rejected).toEqual({ vllm: { range: 1 } });
  });
});

describe("SGLang pages", () => {
  it("takes tensor ranks as replicas, the empty priority as the total, and adds the parts of a counter", () => {
    const read = canonical(fixture("sglang/0.5/dp2-tp2.prom"));
    expect(read.samples.map((s) => [s.entity.key, s.values])).toEqual([
      [
        "sglang:acme/qwen-32b/0",
        { running: 3, waiting: 0, kv_usage_ratio: 0.5, kv_capacity_tokens: 400_000, prompt_tokens_total: 110, retracted: 0 },
      ],
      [
        "sglang:acme/qwen-32b/1",
        { running: 4, waiting: 1, kv_usage_ratio: 0.9, kv_capacity_tokens: 400_000, prompt_tokens_total: 110, retracted: 0 },
      ],
    ]);
    expect(read.series.map((s) => [s.metric, s.labels, s.value])).toEqual([
      ["sglang:gen_throughput", {}, 83.5],
      ["sglang:gen_throughput", {}, 83.5],
    ]);
  });

  it("reads an overloaded server of 0.4, sums before buckets", () => {
    const read = canonical(fixture("sglang/0.4/overload.prom"));
    expect(read.samples[0]!.values).toEqual({
      running: 162,
      waiting: 2826,
      kv_usage_ratio: 0.28,
      prefix_hit_ratio: 0.0075,
      prompt_tokens_total: 8_128_902,
      generation_tokens_total: 7_557_572,
      ttft_s_sum_total: 2.35e6,
      ttft_count_total: 11_008,
    });
    expect(read.series.map((s) => s.labels.le)).toEqual(["30", "+Inf"]);
  });

  it("reads the percent of a pre-release as a ratio", () => {
    expect(canonical('sglang:cache_hit_rate{name="g"} 87.5\n').samples[0]!.values).toEqual({ prefix_hit_ratio: 0.875 });
  });
});

describe("a mapper that reads page after page", () => {
  it("sees the same series under a new pid as the same engine, and forgets values between pages", async () => {
    const { createCanonicalMapper } = await import("../../src/text/canonical-series.js");
    const { ExpositionScanner } = await import("../../src/text/exposition-scanner.js");
    const mapper = createCanonicalMapper({ instance: "h:1" });
    const scanner = new ExpositionScanner();
    const read = (text: string, at: number) => {
      mapper.begin(at);
      scanner.page(text, mapper);
      return [...mapper.batches()].flatMap((b) => b.samples).map((s) => [s.entity.key, s.ts_us, s.values]);
    };
    expect(read('sglang:num_running_reqs{pid="1"} 5\nsglang:num_queue_reqs{pid="1"} 1\n', 1e15)).toEqual([
      ["sglang:h:1/0", 1e15, { running: 5, waiting: 1 }],
    ]);
    expect(read('sglang:num_running_reqs{pid="2"} 2\n', 2e15)).toEqual([["sglang:h:1/0", 2e15, { running: 2 }]]);
    expect(read("", 3e15)).toEqual([]);
  });
});
