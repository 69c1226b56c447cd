import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { serverMetrics } from "../../collectors/server-metrics.js";
import type { ServerTarget } from "../../schemas/collector.js";
import { pageContext, START_US } from "./page-context.js";

const fixture = (file: string): string => readFileSync(new URL(`../fixtures/${file}`, import.meta.url), "utf8");

const target = (name: string, port: number, rest: Partial<ServerTarget> = {}): ServerTarget => ({
  name,
  url: `http://127.0.0.1:${port}`,
  metrics_path: "/metrics",
  engine: null,
  pids: [],
  ...rest,
});

const vllm = (running: number, tokens: number, start = 1.7e9): string =>
  `vllm:num_requests_running{engine="0",model_name="m"} ${running}\nvllm:num_requests_waiting{engine="0",model_name="m"} 0\n` +
  `vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.9\nvllm:prompt_tokens_total{engine="0",model_name="m"} ${tokens}\n` +
  `vllm:generation_tokens_total{engine="0",model_name="m"} ${tokens}\nprocess_start_time_seconds ${start}\n`;

function polling(servers: readonly ServerTarget[]) {
  const context = pageContext({ servers });
  const instance = serverMetrics.start();
  return {
    ...context,
    poll: () => context.poll(instance),
    show: (page: string) => {
      context.answer("http://127.0.0.1:8000/metrics", page);
      return context.poll(instance);
    },
  };
}

describe("server-metrics", () => {
  it("reads several engines, each named by its address, with the time that its page took", async () => {
    const { poll, answer, asked } = polling([target("a", 8000, { pids: [41, 42] }), target("b", 30_000)]);
    answer("http://127.0.0.1:8000/metrics", fixture("vllm/0.17/busy.prom"));
    answer("http://127.0.0.1:30000/metrics", fixture("sglang/0.5/dp2-tp2.prom"));
    const reading = await poll();
    expect(
      reading.samples.map((s) => [s.entity.key, s.entity.node, s.ts_us, s.epoch, s.values.running, s.values.scrape_duration_s]),
    ).toEqual([
      ["vllm:127.0.0.1:8000/0", "node-x", START_US + 1_020_000, 3, 12, 0.02],
      ["sglang:127.0.0.1:30000/0", "node-x", START_US + 1_020_000, 3, 3, 0.02],
      ["sglang:127.0.0.1:30000/1", "node-x", START_US + 1_020_000, 3, 4, undefined],
    ]);
    expect(reading.samples[0]!.entity.labels).toEqual({
      engine: "vllm",
      rank: "0",
      model: "acme/llama-8b",
      url: "http://127.0.0.1:8000",
      server: "a",
      pid: "41,42",
    });
    expect(reading.series!.some((s) => s.metric === "vllm:time_to_first_token_seconds_bucket")).toBe(true);
    expect(asked.map((a) => a.accept)).toEqual(["text/plain;version=0.0.4", "text/plain;version=0.0.4"]);
    expect(reading.notice).toBeNull();
  });

  it("tells model and engine where there is one server", async () => {
    expect((await polling([target("a", 8000)]).show(vllm(1, 5))).manifest).toEqual({ model: "m", engine: "vllm" });
  });

  it("loses nothing of one server when another fails, answers an error or has a wrong URL", async () => {
    const { poll, answer } = polling([target("down", 1), target("a", 8000), target("bad", 2), target("odd", 3, { url: "not a url" })]);
    answer("http://127.0.0.1:8000/metrics", vllm(2, 5));
    answer("http://127.0.0.1:2/metrics", { status: 500 });
    const reading = await poll();
    expect(reading.samples.map((s) => s.values.running)).toEqual([2]);
    expect(reading.notice).toMatch(/down: .*ECONNREFUSED; bad: .*answered 500; odd: .*URL/);
  });

  it("rejects when every server fails, and is content without any", async () => {
    await expect(polling([target("down", 1)]).poll()).rejects.toThrow("down: ");
    expect((await polling([]).poll()).samples).toEqual([]);
  });

  it("marks a restart by the start time of the process, or by a counter that fell", async () => {
    const byTime = polling([target("a", 8000)]);
    await byTime.show(vllm(1, 100));
    expect((await byTime.show(vllm(1, 120))).marks).toEqual([]);
    expect((await byTime.show(vllm(0, 130, 1.7e9 + 500))).marks).toMatchObject([
      { kind: "restart", node: "node-x", text: expect.stringContaining("a restarted") as string },
    ]);
    expect((await byTime.show(vllm(0, 131, 1.7e9 + 500))).marks).toEqual([]);
    const byCounter = polling([target("a", 8000)]);
    await byCounter.show("vllm:prompt_tokens_total 8.1e6\n");
    expect((await byCounter.show("vllm:prompt_tokens_total 5\n")).marks).toMatchObject([
      { kind: "restart", text: expect.stringContaining("fell") as string },
    ]);
  });

  it("flags gauges that stand still while no token moves, and not a server that works or idles", async () => {
    const { show } = polling([target("a", 8000)]);
    const notices = async (n: number, page: (i: number) => string) => {
      const seen: string[] = [];
      for (let i = 0; i < n; i++) {
        const { notice } = await show(page(i));
        if (typeof notice === "string") seen.push(notice);
      }
      return seen;
    };
    expect(await notices(15, (i) => vllm(106, 100 + i))).toEqual([]);
    expect((await notices(15, () => vllm(106, 114)))[0]).toBe("vllm:127.0.0.1:8000/0: gauges are stale, no token moves");
    expect(await notices(15, () => vllm(0, 114))).toEqual([]);
  });

  it("takes an empty page as no metrics yet, a page of strangers as no engine, and counts bad lines", async () => {
    const { show } = polling([target("a", 8000)]);
    expect(await show("")).toMatchObject({ samples: [], notice: "a: no metrics yet" });
    expect(await show("python_info 1\n")).toMatchObject({ samples: [], notice: "a: no metrics of a known engine" });
    expect((await show(`${vllm(1, 5)}bogus line\nvllm:num_requests_waiting{engine="1"} NaN\n`)).rejected).toEqual({
      value: 1,
      not_finite: 1,
    });
  });

  it("drops the last line of a cut page", async () => {
    const reading = await polling([target("a", 8000)]).show(
      'vllm:num_requests_running{engine="0"} 12\nvllm:num_requests_waiting{engine="0"} 4',
    );
    expect(reading.samples[0]!.values).toEqual({ running: 12, scrape_duration_s: 0.02 });
    expect(reading.rejected).toEqual({ truncated: 1 });
  });

  it("detects engines by the names on their pages", async () => {
    const { ctx, answer } = pageContext({ servers: [target("a", 8000), target("b", 1)] });
    expect(await serverMetrics.detect(pageContext().ctx)).toMatchObject({ found: false, mend: expect.any(String) as string });
    expect((await serverMetrics.detect(ctx)).found).toBe(false);
    answer("http://127.0.0.1:8000/metrics", vllm(1, 5));
    expect(await serverMetrics.detect(ctx)).toMatchObject({
      found: true,
      text: expect.stringMatching(/a: vllm at .*; b: .*ECONNREFUSED/) as string,
      mend: expect.stringContaining("--enable-metrics") as string,
    });
  });
});
