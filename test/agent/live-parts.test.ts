import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Episode, Spike } from "../../schemas/report.js";
import type { Sample } from "../../schemas/samples.js";
import { ActivityWatch } from "../../src/agent/live/activity-watch.js";
import { LiveLedger } from "../../src/agent/live/live-ledger.js";
import { type Judge, startLiveLoop } from "../../src/agent/live/live-loop.js";
import { emptyPass, type LivePass, type PassRange } from "../../src/agent/live/live-pass.js";
import { createSpikeCounters } from "../../src/export/spike-families.js";
import { createLogger } from "../../src/platform/logger.js";
import { openStore } from "../../src/store/open-store.js";
import { writeExposition } from "../../src/text/exposition-writer.js";
import { formatIso } from "../../src/time/iso-time.js";
import { fakeTimers } from "../platform/fake-timers.js";
import { sampleEpisode } from "../report/sample-report.js";
import { request } from "../store/store-rows.js";
import { endAgents, tempDir } from "./agent-bench.js";

afterEach(endAgents);

const T0 = 1_790_000_000e6;
const at = (s: number): string => formatIso(T0 + s * 1e6);
const episode = (id: string, from: number, to: number, over: Partial<Episode> = {}): Episode => ({
  ...sampleEpisode,
  id,
  start: at(from),
  end: at(to),
  server: "llm-0",
  ...over,
});
const spike = (request_id: string, of: Episode): Spike => ({
  request_id,
  metric: "ttft",
  start: of.start,
  end: of.end,
  observed_ms: 900,
  expected_ms: 100,
  excess_ms: 800,
  class: of.class,
  cause: of.cause,
  confidence: of.confidence,
  episode: of.id,
  censored: false,
});
const pass = (to_s: number, found: readonly (readonly [Episode, ...string[]])[], over: Partial<LivePass> = {}): LivePass => ({
  ...emptyPass({ from_us: T0 - 600e6, to_us: T0 + to_s * 1e6 }, 100),
  episodes: found.map(([e]) => e),
  spikes: found.flatMap(([e, ...ids]) => ids.map((id) => spike(id, e))),
  ...over,
});
const ids = (list: readonly { readonly episode: Episode }[]): string[] => list.map((one) => one.episode.id);

describe("LiveLedger", () => {
  it("makes an episode final once its telemetry and its last requests are in, and only once", () => {
    const ledger = new LiveLedger();
    const first = ledger.take(pass(25, [[episode("a", 10, 20), "r1"]], { longest_ms: 12_000 }));
    expect([ids(first.final), ids(first.fresh), ids(ledger.provisional)]).toEqual([[], ["a"], ["a"]]);
    expect(ledger.dueAt_us).toBe(T0 + 37e6);
    const grown = ledger.take(pass(36, [[episode("b", 10, 21), "r1", "r2"]], { longest_ms: 12_000 }));
    expect([ids(grown.final), ids(grown.fresh), ids(ledger.provisional)]).toEqual([[], [], ["b"]]);
    const done = ledger.take(pass(40, [[episode("b", 10, 21), "r1", "r2"]], { longest_ms: 12_000 }));
    expect([ids(done.final), ids(ledger.provisional), ledger.dueAt_us]).toEqual([["b"], [], Number.POSITIVE_INFINITY]);
    expect(ids(ledger.take(pass(50, [[episode("c", 9, 21), "r2", "r3"]])).final)).toEqual([]);
  });

  it("waits for the slowest source, and for requests that are known to be open", () => {
    const found: readonly [Episode, string] = [episode("a", 10, 20), "r1"];
    expect(ids(new LiveLedger().take(pass(45, [found], { settle_ms: 30_000 })).final)).toEqual([]);
    expect(ids(new LiveLedger().take(pass(50, [found], { settle_ms: 30_000 })).final)).toEqual(["a"]);
    expect(ids(new LiveLedger().take(pass(50, [found], { oldest_open_us: T0 + 15e6 })).final)).toEqual([]);
    expect(ids(new LiveLedger().take(pass(50, [found], { oldest_open_us: T0 + 25e6 })).final)).toEqual(["a"]);
  });

  it("does not go back to a time that it has closed", () => {
    const ledger = new LiveLedger();
    ledger.take(pass(100, []));
    expect(ids(ledger.take(pass(110, [[episode("late", 10, 20), "r1"]])).final)).toEqual([]);
    expect(ids(ledger.take(pass(130, [[episode("new", 95, 105), "r1"]])).final)).toEqual(["new"]);
  });

  it("knows what was final before a restart, a hang without requests included", () => {
    const hang = episode("h", 30, 40, { basis: "telemetry", requests: 0 });
    const ledger = new LiveLedger([{ episode: hang, spikes: [] }]);
    expect(ids(ledger.take(pass(100, [[episode("h2", 31, 40, { basis: "telemetry" })], [episode("x", 31, 40), "r1"]])).final)).toEqual([
      "x",
    ]);
  });
});

const server = (s: number, tokens: number, running: number, finished = 0): Sample => ({
  entity: { kind: "server", node: "n1", key: "vllm:llm", labels: {} },
  ts_us: T0 + s * 1e6,
  epoch: 0,
  values: { generation_tokens_total: tokens, running, success_total: finished },
});

describe("ActivityWatch", () => {
  it("sees a hang, and that it is over", () => {
    const watch = new ActivityWatch();
    for (let s = 0; s < 10; s++) watch.samples([server(s, 100 * Math.min(s, 3), 4)]);
    expect(watch.hangs(T0 + 9e6)).toBe(true);
    expect(watch.hangs(T0 + 100e6)).toBe(false);
    watch.samples([server(10, 301, 4)]);
    expect(watch.hangs(T0 + 10e6)).toBe(false);
    for (let s = 11; s < 30; s++) watch.samples([server(s, 301, 0)]);
    expect(watch.hangs(T0 + 29e6)).toBe(false);
  });

  it("has something new when requests ended, by span or by counter, and not before", () => {
    const watch = new ActivityWatch();
    watch.samples([server(0, 0, 1, 5)]);
    watch.samples([server(1, 50, 1, 5)]);
    watch.requests([]);
    expect(watch.revision).toBe(0);
    watch.samples([server(2, 90, 0, 6)]);
    expect(watch.revision).toBe(1);
  });
});

describe("startLiveLoop", () => {
  const bench = (judge: (range: PassRange) => Promise<LivePass>) => {
    const timers = fakeTimers(0);
    const ranges: PassRange[] = [];
    const kept: string[] = [];
    const watch = new ActivityWatch();
    const counters = createSpikeCounters({ spikes: [], episodes: [] });
    const wallUs = () => T0 + Math.round(timers.nowMs() * 1000);
    const one: Judge = {
      async pass(range) {
        ranges.push(range);
        return await judge(range);
      },
      stop: async () => {},
    };
    const loop = startLiveLoop({
      judge: one,
      watch,
      counters,
      log: createLogger({ level: "silent" }),
      stored: [],
      wallUs,
      commit: () => {},
      keep: (judged) => void kept.push(...ids(judged)),
      timers,
    });
    return { timers, ranges, kept, watch, counters, loop };
  };
  const view = [{}] as unknown as Parameters<ActivityWatch["requests"]>[0];

  it("makes no pass but the first while nothing happens, and passes as rarely as they are dear", async () => {
    const { timers, ranges, watch, loop } = bench(async (range) => ({ ...emptyPass(range, 200) }));
    await timers.advance(300_000);
    expect(ranges).toHaveLength(1);
    for (let i = 0; i < 100; i++) {
      watch.requests(view);
      await timers.advance(1000);
    }
    expect(ranges).toHaveLength(6);
    await loop.stop();
  });

  it("tells a final episode once, although no request comes any more", async () => {
    const { timers, ranges, kept, watch, counters, loop } = bench(async (range) =>
      pass((range.to_us - T0) / 1e6, [[episode("a", -5, 0), "r1", "r2"]], { took_ms: 10 }),
    );
    watch.requests(view);
    await timers.advance(4000);
    expect([kept, ids(loop.provisional())]).toEqual([[], ["a"]]);
    expect(writeExposition(counters.families())).toContain(
      'episodes_open{class="compute",cause="burst-saturation",metric="ttft",server="llm-0"} 1',
    );
    await timers.advance(60_000);
    expect([kept, ids(loop.provisional()), ids(loop.recent())]).toEqual([["a"], [], ["a"]]);
    expect(ranges.length).toBeLessThan(5);
    const page = writeExposition(counters.families());
    expect(page).toContain('whyslow_spikes_total{class="compute",cause="burst-saturation",metric="ttft",server="llm-0"} 2\n');
    expect(page).toContain(
      'whyslow_spike_excess_seconds_total{class="compute",cause="burst-saturation",metric="ttft",server="llm-0"} 1.6\n',
    );
    await loop.stop();
  });

  it("looks back over less after a failure, and goes on", async () => {
    let fail = true;
    const { timers, ranges, watch, loop } = bench(async (range) => {
      if (fail) throw new Error("out of memory");
      return emptyPass(range, 10);
    });
    watch.requests(view);
    await timers.advance(2000);
    fail = false;
    watch.requests(view);
    await timers.advance(70_000);
    expect(ranges.map((r) => (r.to_us - r.from_us) / 1e6)).toEqual([600, 300]);
    expect(loop.health).toMatchObject({ passes: 1, failures: 1 });
    await loop.stop();
  });

  it("does not wait while a server hangs", async () => {
    const { timers, ranges, watch, loop } = bench(async (range) => emptyPass(range, 4000));
    for (let s = 0; s < 30; s++) {
      watch.samples([server(s, 100 * Math.min(s, 3), 4)]);
      await timers.advance(1000);
    }
    expect(ranges.length).toBeGreaterThanOrEqual(4);
    await loop.stop();
  });
});

describe("verdicts in the store", () => {
  it("are kept once, and counted on from after a restart", () => {
    const file = path.join(tempDir(), "v.db");
    const judged = { episode: episode("a", 10, 20), spikes: [spike("r1", episode("a", 10, 20)), spike("r2", episode("a", 10, 20))] };
    let store = openStore(file, { mode: "write" });
    store.sink.verdicts([judged, judged]);
    store.sink.verdicts([judged], "some-run");
    store.close();
    store = openStore(file, { mode: "write" });
    store.sink.verdicts([judged]);
    store.sink.flush();
    expect(store.verdicts.episodes(T0, T0 + 12e6, 10)).toEqual([judged.episode]);
    expect(store.verdicts.episodes(T0 + 21e6, T0 + 99e6, 10)).toEqual([]);
    expect(store.verdicts.spikes(T0, T0 + 12e6, 10)).toEqual(judged.spikes);
    const page = writeExposition(createSpikeCounters(store.verdicts.totals()).families());
    expect(page).toContain('spikes_total{class="compute",cause="burst-saturation",metric="ttft",server="llm-0"} 2\n');
    store.close();
  });
});

describe("boundedFrom", () => {
  it("leaves out what lies before the latest requests", () => {
    const store = openStore(path.join(tempDir(), "b.db"), { mode: "write" });
    const source = { name: "otlp", node: "n1", run: null, interval_ms: null, window_ms: null, lag_ms: null };
    const views = Array.from({ length: 10 }, (_, i) => ({ ...request(`r${i}`, T0 + i * 1e6) }));
    store.sink.requests(source, views);
    store.sink.flush();
    const from = store.read.boundedFrom(T0 - 5e6, T0 + 60e6, 4);
    expect(store.read.requestViews({ from_us: from, to_us: T0 + 60e6 }).filter((v) => v.start_us >= from)).toHaveLength(4);
    expect(store.read.boundedFrom(T0 - 5e6, T0 + 60e6, 10)).toBe(T0 - 5e6);
    store.close();
  });
});
