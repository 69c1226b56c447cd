import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { serverMetrics } from "../../collectors/server-metrics.js";
import { trtllmIterations } from "../../collectors/trtllm-iterations.js";
import type { ServerTarget } from "../../schemas/collector.js";
import { pageContext, START_US } from "./page-context.js";

const page = readFileSync(new URL("../fixtures/trtllm/1.1/iterations.json", import.meta.url), "utf8");
const URL_ = "http://127.0.0.1:8000/metrics";
const target: ServerTarget = { name: "t", url: "http://127.0.0.1:8000", metrics_path: "/metrics", engine: "trtllm", pids: [9] };

function polling(servers: readonly ServerTarget[] = [target]) {
  const context = pageContext({ servers });
  const instance = trtllmIterations.start();
  return {
    ...context,
    show: (body: string) => {
      context.answer(URL_, body);
      return context.poll(instance);
    },
  };
}
const one = (iter: number): string => JSON.stringify([{ iter, numActiveRequests: 1 }]);

describe("trtllm-iterations", () => {
  it("reads the newest iteration as the server's state, and how long iterations took", async () => {
    const { show } = polling();
    const reading = await show(page);
    expect(reading.samples).toEqual([
      {
        entity: {
          kind: "server",
          node: "node-x",
          key: "trtllm:127.0.0.1:8000/0",
          labels: { engine: "trtllm", rank: "0", url: "http://127.0.0.1:8000", server: "t", pid: "9" },
        },
        ts_us: START_US + 1_020_000,
        epoch: 3,
        values: {
          running: 5,
          waiting: 2,
          max_running: 64,
          retracted: 1,
          kv_usage_ratio: 0.95,
          kv_capacity_tokens: 32_000,
          prefix_hit_ratio: 0.25,
          iteration_tokens_count_total: 155,
        },
      },
    ]);
    expect(reading.series!.map((s) => [s.labels.statistic, s.value])).toEqual([
      ["mean", 0.01],
      ["max", 0.0125],
    ]);
    expect(reading.notice).toBeNull();
  });

  it("an empty array is no new iteration: no sample, no fault, no idle server", async () => {
    const { show } = polling();
    expect(await show("[]")).toMatchObject({ samples: [], rejected: {}, notice: null });
  });

  it("tells when iterations are missing, because somebody else read them; a restart is none", async () => {
    const { show } = polling();
    await show(one(10));
    expect((await show(one(11))).notice).toBeNull();
    expect((await show(one(15))).notice).toContain("3 iterations are missing: another program reads the page");
    expect((await show(one(1))).notice).toBeNull();
  });

  it("keeps attention ranks apart, counts records that are none", async () => {
    const { show } = polling();
    const reading = await show(
      '[{"iter":1,"attentionDpRank":0,"numActiveRequests":2},{"iter":1,"attentionDpRank":1,"numActiveRequests":7},5]',
    );
    expect(reading.samples.map((s) => [s.entity.key, s.values.running])).toEqual([
      ["trtllm:127.0.0.1:8000/0", 2],
      ["trtllm:127.0.0.1:8000/1", 7],
    ]);
    expect(reading.rejected).toEqual({ syntax: 1 });
  });

  it("asks once for a page that is of another kind, and only servers of this engine", async () => {
    const { show, asked } = polling([target, { ...target, name: "v", engine: "vllm", url: "http://127.0.0.1:8001" }]);
    expect((await show("# TYPE trtllm_num_requests_running gauge\n")).notice).toContain("no JSON page");
    await show(page);
    expect(asked.map((a) => a.url)).toEqual([URL_]);
  });

  it("server-metrics leaves the page alone once it has seen that it is JSON", async () => {
    const context = pageContext({ servers: [{ ...target, engine: null }] });
    const instance = serverMetrics.start();
    context.answer(URL_, page);
    expect((await context.poll(instance)).notice).toContain("set engine: trtllm");
    await context.poll(instance);
    expect(context.asked).toHaveLength(1);
  });
});
