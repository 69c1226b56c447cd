import { describe, expect, it } from "vitest";
import { serverMetrics } from "../../collectors/server-metrics.js";
import { trtllmIterations } from "../../collectors/trtllm-iterations.js";
import type { ServerTarget } from "../../schemas/collector.js";
import type { Track } from "../../schemas/index.js";
import { rateSeries } from "../../src/core/interval-series.js";
import { measureRefresh } from "../../src/core/refresh.js";
import { pageContext } from "../collectors/page-context.js";
import { canonical } from "../text/canonical-reading.js";

const read = (text: string) => canonical(text, { node: "n", instance: "h:8000" });
const vllm = (text: string) => read(text).of("vllm:h:8000/0") ?? {};

const target: ServerTarget = { name: "a", url: "http://127.0.0.1:8000", metrics_path: "/metrics", engine: null, pids: [] };
function polling(collector: typeof serverMetrics | typeof trtllmIterations, engine: string | null = null) {
  const context = pageContext({ servers: [{ ...target, engine }] });
  const instance = collector.start();
  return {
    ...context,
    show: (page: string) => {
      context.answer("http://127.0.0.1:8000/metrics", page);
      return context.poll(instance);
    },
  };
}

describe("traps of server pages", () => {
  it("trap servers-and-traces 1: ranks of a second node; what one rank does not print is unknown, not 0", () => {
    const page = [3, 1, 0, 2].map((n, i) => `vllm:num_requests_running{engine="${i + 4}"} ${n}\n`).join("");
    const { samples } = read(`${page}vllm:num_requests_waiting{engine="4"} 7\n`);
    expect(samples.map((s) => [s.entity.labels.rank, s.values.running, s.values.waiting])).toEqual([
      ["4", 3, 7],
      ["5", 1, undefined],
      ["6", 0, undefined],
      ["7", 2, undefined],
    ]);
  });

  it("trap servers-and-traces 2: a full rank is seen beside an empty one, not their mean", () => {
    const { samples } = read('vllm:kv_cache_usage_perc{engine="0"} 0.2\nvllm:kv_cache_usage_perc{engine="1"} 0.97\n');
    expect(Math.max(...samples.map((s) => s.values.kv_usage_ratio!))).toBe(0.97);
  });

  it("trap servers-and-traces 3: a breakdown is not added to its whole", () => {
    expect(vllm('vllm:num_requests_waiting 6\nvllm:num_requests_waiting_by_reason{reason="capacity"} 6\n')).toEqual({ waiting: 6 });
  });

  it("trap servers-and-traces 4: the empty priority is the total of the others", () => {
    const page = ["", "10", "20"].map((p, i) => `sglang:num_queue_reqs{priority="${p}"} ${3 - i}\n`).join("");
    expect(read(page).of("sglang:h:8000/0")).toEqual({ waiting: 3 });
  });

  it("trap servers-and-traces 5: iteration_tokens_total is a histogram despite its name", () => {
    const stem = "vllm:iteration_tokens_total";
    const page = read(
      `# TYPE ${stem} histogram\n${stem}_bucket{le="1.0"} 4\n${stem}_bucket{le="+Inf"} 9\n${stem}_sum 50\n${stem}_count 9\n`,
    );
    expect(page.of("vllm:h:8000/0")).toEqual({ iteration_tokens_sum_total: 50, iteration_tokens_count_total: 9 });
    expect(page.series.map((s) => s.labels.le)).toEqual(["1", "+Inf"]);
  });

  it("trap servers-and-traces 6: two names of the inter-token time are one, the newer counts", () => {
    const pair = (name: string, sum: number) => `vllm:${name}_seconds_sum ${sum}\nvllm:${name}_seconds_count 7\n`;
    expect(vllm(pair("time_per_output_token", 5) + pair("inter_token_latency", 1.25))).toEqual({
      itl_s_sum_total: 1.25,
      itl_count_total: 7,
    });
  });

  it("trap servers-and-traces 7: creation times are no counts", () => {
    const page = read("vllm:num_preemptions_total 0\nvllm:num_preemptions_created 1.774011384e9\n");
    expect([page.of("vllm:h:8000/0"), page.series]).toEqual([{ preemptions_total: 0 }, []]);
  });

  it("trap servers-and-traces 8: 'perc' is a ratio; the percent of one pre-release is brought to one", () => {
    expect(vllm("vllm:gpu_cache_usage_perc 0.97\n")).toEqual({ kv_usage_ratio: 0.97 });
    expect(read('sglang:cache_hit_rate{name="m"} 87.588\n').samples[0]!.values.prefix_hit_ratio).toBeCloseTo(0.87588, 9);
  });

  it("trap servers-and-traces 9: a name that the version does not print is unknown, never 0", () => {
    expect(vllm("vllm:num_requests_running 3\n")).toEqual({ running: 3 });
  });

  it("trap servers-and-traces 10: a restart is marked, and no rate goes across it", async () => {
    const { show } = polling(serverMetrics);
    const page = (tokens: number, start: number) => `vllm:prompt_tokens_total ${tokens}\nprocess_start_time_seconds ${start}\n`;
    const before = await show(page(8.1e6, 1.7e9));
    const after = await show(page(5, 1.70001e9));
    expect(after.marks).toMatchObject([{ kind: "restart" }]);
    const samples = [before, after].map((r) => r.samples[0]!);
    const track: Track = {
      source: { name: "vllm", node: "n", imported: false, interval_ms: null, window_ms: null, lag_ms: null, rejected: {} },
      entity: samples[0]!.entity,
      ts_us: Float64Array.from(samples, (s) => s.ts_us),
      epoch: new Int32Array(2),
      columns: { prompt_tokens_total: Float64Array.from(samples, (s) => s.values.prompt_tokens_total!) },
    };
    expect(rateSeries(track, "prompt_tokens_total", { refresh: measureRefresh(track), lag_us: 0, window_us: Number.NaN }).n).toBe(0);
  });

  it("trap servers-and-traces 11: gauges that stand while no token moves are stale", async () => {
    const { show } = polling(serverMetrics);
    let notice: string | null | undefined = null;
    for (let i = 0; i < 15; i++)
      notice = (await show("vllm:num_requests_running 106\nvllm:kv_cache_usage_perc 0.904\nvllm:generation_tokens_total 5000\n")).notice;
    expect(notice).toContain("gauges are stale");
  });

  it("trap servers-and-traces 12: label values hold braces and escaped quotes", () => {
    const page = read(
      'vllm:num_requests_waiting{model_name="a \\"quoted} name"} 2\ntgi_batch_inference_count{method="{\'method\': \'prefill\'}"} 215\n',
    );
    expect(page.labels("vllm:h:8000/0")!.model).toBe('a "quoted} name');
    expect(page.of("tgi:h:8000/0")).toEqual({ iteration_tokens_count_total: 215 });
  });

  it("trap servers-and-traces 13: NaN is unknown, a negative count invalid, a time stamp of 1970 ignored", () => {
    const page = read(
      'vllm:num_requests_waiting{engine="1"} 2.0 1712345678\nvllm:num_requests_waiting{engine="2"} NaN\nvllm:num_requests_waiting{engine="3"} -4\n',
    );
    expect(page.samples.map((s) => [s.entity.key, s.values])).toEqual([["vllm:h:8000/1", { waiting: 2 }]]);
    expect(page.samples[0]!.ts_us).toBeGreaterThan(1.7e15);
    expect(page.summary.rejected).toEqual({ vllm: { not_finite: 1, range: 1 } });
  });

  it("trap servers-and-traces 14: a histogram without its infinite bound keeps its totals, and none is invented", () => {
    const stem = "trtllm_time_to_first_token_seconds";
    const page = read(`${stem}_bucket{le="0.05"} 12.0\n${stem}_count 150.0\n${stem}_sum 8.75\n`);
    const { ttft_s_sum_total: sum, ttft_count_total: count } = page.of("trtllm:h:8000/0")!;
    expect([((sum! / count!) * 1000).toFixed(1), page.series.map((s) => [s.labels.le, s.value])]).toEqual(["58.3", [["0.05", 12]]]);
  });

  it("trap servers-and-traces 15: an overloaded server's mean is its own, not one of saturated buckets", () => {
    const stem = "sglang:time_to_first_token_seconds";
    const page = read(`${stem}_sum 2351869.4\n${stem}_bucket{le="30.0"} 2513\n${stem}_bucket{le="+Inf"} 11008\n${stem}_count 11008\n`);
    const { ttft_s_sum_total: sum, ttft_count_total: count } = page.of("sglang:h:8000/0")!;
    expect(sum! / count!).toBeCloseTo(213.65, 2);
    expect(page.series.map((s) => [s.labels.le, s.value])).toEqual([
      ["30", 2513],
      ["+Inf", 11008],
    ]);
  });

  it("trap servers-and-traces 16: trtllm-serve's page is JSON for one reader; an empty one is no new iteration", async () => {
    const { show } = polling(trtllmIterations, "trtllm");
    const page = JSON.stringify([
      { iter: 7, numActiveRequests: 1, kvCacheStats: { maxNumBlocks: 101_256, usedNumBlocks: 3, tokensPerBlock: 32 } },
    ]);
    expect((await show(page)).samples[0]!.values).toMatchObject({ running: 1, kv_usage_ratio: 3 / 101_256, kv_capacity_tokens: 3_240_192 });
    expect(await show("[]")).toMatchObject({ samples: [], notice: null });
    const other = polling(serverMetrics, "trtllm");
    for (let i = 0; i < 3; i++) expect((await other.show(page)).samples).toEqual([]);
    expect(other.asked).toHaveLength(1);
  });

  it("trap servers-and-traces 17: the steps of an ensemble are the same requests", () => {
    const rows = [
      ["ensemble", 59],
      ["preprocessing", 59],
      ["postprocessing", 59],
      ["tensorrt_llm", 0],
    ] as const;
    const page = rows.map(([model, n]) => `nv_inference_request_success{model="${model}",version="1"} ${n}\n`).join("");
    expect(read(page).of("triton:h:8000/0")!.success_total).toBe(59);
  });

  it("trap servers-and-traces 18: used over max blocks beats a fraction that contradicts it, which is counted", () => {
    const row = (type: string, value: number) => `nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="${type}",model="m"} ${value}\n`;
    const page = read(row("fraction", 0.4875) + row("used", 1) + row("max", 6239));
    expect(page.of("triton:h:8000/0")!.kv_usage_ratio).toBeCloseTo(0.00016, 5);
    expect(page.summary.rejected).toEqual({ triton: { conflict: 1 } });
    expect(read(row("fraction", 0.4875)).of("triton:h:8000/0")).toEqual({ kv_usage_ratio: 0.4875 });
  });

  it("trap servers-and-traces 19: Dynamo's queue holds requests until their first token, so it is not the engine's", () => {
    const page = read(
      'dynamo_frontend_queued_requests{model="m"} 40\ndynamo_frontend_inflight_requests{model="m"} 52\nvllm:num_requests_waiting 0\n',
    );
    expect(page.of("dynamo:h:8000/0")).toEqual({ running: 12 });
    expect(page.of("vllm:h:8000/0")).toEqual({ waiting: 0 });
  });

  it("trap servers-and-traces 20: tokens per second are not seconds", () => {
    const page = read("llamacpp:prompt_tokens_seconds 2.37\nllamacpp:prompt_seconds_total 2903.63\n");
    expect(page.of("llamacpp:h:8000/0")).toEqual({ prefill_s_sum_total: 2903.63 });
  });

  it("trap servers-and-traces 21: another pid is the same series", () => {
    const keys = [910, 2044].map((pid) => read(`sglang:num_running_reqs{pid="${pid}",tp_rank="0"} 1\n`).samples[0]!.entity.key);
    expect(new Set(keys).size).toBe(1);
    expect(read('sglang:num_running_reqs{pid="910"} 1\nsglang:num_running_reqs{pid="911"} 1\n').of("sglang:h:8000/0")).toEqual({
      running: 1,
    });
  });

  it("trap servers-and-traces 38: exemplars, # EOF and counters typed without _total", () => {
    const page = read(
      '# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total 12\nvllm:time_to_first_token_seconds_bucket{le="+Inf"} 3 # {trace_id="a#b}"} 0.43 1.7e9\n# EOF\n',
    );
    expect(page.of("vllm:h:8000/0")).toEqual({ prompt_tokens_total: 12 });
    expect([page.series.map((s) => s.value), page.summary.rejected]).toEqual([[3], {}]);
  });

  it("trap servers-and-traces 39: two models behind one address stay apart", () => {
    const { samples } = read('vllm:num_requests_running{model_name="a"} 1\nvllm:num_requests_running{model_name="b"} 2\n');
    expect(samples.map((s) => [s.entity.labels.model, s.values.running])).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(new Set(samples.map((s) => s.entity.key)).size).toBe(2);
  });

  it("trap servers-and-traces 41: an empty page is no metrics yet, not an idle server", async () => {
    expect(await polling(serverMetrics).show("")).toMatchObject({ samples: [], notice: "a: no metrics yet" });
  });
});
