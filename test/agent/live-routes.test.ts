import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Episode } from "../../schemas/report.js";
import type { Judge } from "../../src/agent/live/live-loop.js";
import { emptyPass } from "../../src/agent/live/live-pass.js";
import { openStore } from "../../src/store/open-store.js";
import { formatIso } from "../../src/time/iso-time.js";
import { sampleEpisode } from "../report/sample-report.js";
import { endAgents, hostCollector, runAgent, tempDir } from "./agent-bench.js";

afterEach(endAgents);

/** A server whose requests keep ending: there is always something to judge. */
const busyServer = () => {
  let finished = 0;
  return hostCollector("fake-host", async (ctx) => ({
    samples: [
      {
        entity: { kind: "server", node: ctx.node, key: "vllm:llm", labels: {} },
        ts_us: ctx.clock.wallUs(),
        epoch: 0,
        values: { success_total: finished++, running: 1 },
      },
    ],
  }));
};

interface Found {
  readonly episodes: readonly (Episode & { final: boolean })[];
  readonly spikes: readonly { request_id: string; final: boolean }[];
}

/** Tells of an old and of a fresh episode. */
const judge: Judge = {
  stop: async () => {},
  async pass(range) {
    const at = (ago_s: number): string => formatIso(range.to_us - ago_s * 1e6);
    const old: Episode = { ...sampleEpisode, id: "ep-old", start: at(100), end: at(90), server: "llm" };
    const fresh: Episode = { ...sampleEpisode, id: "ep-fresh", start: at(3), end: at(1), server: "llm" };
    const spike = (e: Episode, request_id: string) => ({
      request_id,
      metric: "ttft" as const,
      start: e.start,
      end: e.end,
      observed_ms: 500,
      expected_ms: 100,
      excess_ms: 400,
      class: e.class,
      cause: e.cause,
      confidence: e.confidence,
      episode: e.id,
      censored: false,
    });
    return { ...emptyPass(range, 5), episodes: [old, fresh], spikes: [spike(old, "r1"), spike(fresh, "r2")] };
  },
};

describe("live episodes of an agent", () => {
  it("are served as final and provisional, counted, stored once, and counted on from after a restart", async () => {
    const database = path.join(tempDir(), "live.db");
    const first = await runAgent([busyServer()], { judge, database });
    const ask = async (what: string, since = "5m"): Promise<Found> =>
      JSON.parse((await first.get(`/api/v1/${what}?since=${since}`)).text) as Found;
    while ((await ask("episodes")).episodes.length < 2);
    expect((await ask("episodes")).episodes.map((e) => [e.id, e.final])).toEqual([
      ["ep-old", true],
      ["ep-fresh", false],
    ]);
    expect((await ask("episodes", "10s")).episodes.map((e) => e.id)).toEqual(["ep-fresh"]);
    expect((await ask("spikes")).spikes.map((s) => [s.request_id, s.final])).toEqual([
      ["r1", true],
      ["r2", false],
    ]);
    expect((await first.get("/api/v1/episodes")).status).toBe(400);
    const line = 'whyslow_spikes_total{class="compute",cause="burst-saturation",metric="ttft",server="llm"} 1\n';
    expect((await first.get("/metrics")).text).toContain(line);
    await first.agent.stop();
    const store = openStore(database, { mode: "read" });
    expect(store.verdicts.episodes(0, 9e15, 10).map((e) => e.id)).toEqual(["ep-old"]);
    store.close();
    const second = await runAgent([], { judge: null, database });
    expect((await second.get("/metrics")).text).toContain(line);
    expect((JSON.parse((await second.get("/api/v1/episodes?since=10m")).text) as Found).episodes.map((e) => e.id)).toEqual(["ep-old"]);
  });
});
