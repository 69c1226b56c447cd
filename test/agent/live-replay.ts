import path from "node:path";
import { type SimulatedRun, simulateVariation } from "../../lab/variations/simulate-variation.js";
import { TIERS, type Variation } from "../../lab/variations/variation.js";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { Report } from "../../schemas/report.js";
import type { Sample, SourceSpec } from "../../schemas/samples.js";
import type { Track } from "../../schemas/telemetry.js";
import { type LiveEpisode, LiveLedger } from "../../src/agent/live/live-ledger.js";
import { WINDOW_US } from "../../src/agent/live/live-loop.js";
import { correlate } from "../../src/cli/correlation.js";
import { judgeRange } from "../../src/cli/judge-range.js";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD, type Fault, type Workload } from "../../src/sim/scenario.js";
import { openStore, type Store } from "../../src/store/open-store.js";

/** One H100 watched with all sources each second; traces come as the server's spans. */
export const runWith = (faults: readonly Fault[], seconds: number, load: Partial<Workload> = {}): Variation => ({
  name: "live",
  seed: 21,
  family: "live",
  scenario: {
    seed: 21,
    server: DEFAULT_SERVER,
    workload: { ...DEFAULT_WORKLOAD, rate_per_s: 4.5, prompt_median: 700, output_median: 90, ...load },
    faults,
  },
  seconds,
  watch: { inputs: TIERS.full, engine: "vllm", form: "otlp", interval_s: 1, lag_s: 0, client_offset_s: 0, loss: 0 },
  replicas: 1,
});

const SPANS: SourceSpec = { name: "otlp-grpc", node: "n1", run: null, interval_ms: null, window_ms: null, lag_ms: null };

interface Arrival {
  readonly at_us: number;
  store(store: Store): void;
}

const sampleAt = (t: Track, i: number): Sample => ({
  entity: { ...t.entity, node: "n1" },
  ts_us: t.ts_us[i]!,
  epoch: 0,
  values: Object.fromEntries(Object.entries(t.columns).flatMap(([name, c]) => (Number.isNaN(c[i]!) ? [] : [[name, c[i]!]]))),
});

/** Everything of a run in the order in which an agent gets it: samples when they are stamped, spans when the request has ended. */
function arrivalsOf(run: SimulatedRun): Arrival[] {
  const samples = run.telemetry.tracks.flatMap((t) => {
    const source: SourceSpec = { name: t.source.name, node: "n1", run: null, interval_ms: 1000, window_ms: null, lag_ms: null };
    return [...t.ts_us].map((at_us, i) => ({ at_us, store: (s: Store) => s.sink.samples(source, [sampleAt(t, i)]) }));
  });
  const spans = run.views.map((view) => ({ at_us: view.end_us! + 1e6, store: (s: Store) => s.sink.requests(SPANS, [view]) }));
  return [...samples, ...spans].sort((a, b) => a.at_us - b.at_us);
}

export interface Replay {
  readonly final: LiveEpisode[];
  /** Episodes that were told as provisional, with the time of the pass. */
  readonly fresh: { readonly at_us: number; readonly one: LiveEpisode }[];
  readonly report: Report;
}

/** Feeds a run into a store as if it happened, judges every `every_s` in fast time, then makes the post-mortem of the whole. */
export function replay(v: Variation, folder: string, every_s: number, restartAt_s = Number.POSITIVE_INFINITY): Replay {
  const arrivals = arrivalsOf(simulateVariation(v));
  const start = arrivals[0]!.at_us;
  const end = start + (v.seconds + 60) * 1e6;
  const store = openStore(path.join(folder, "live.db"), { mode: "write" });
  try {
    let ledger = new LiveLedger();
    let restarted = false;
    const final: LiveEpisode[] = [];
    const fresh: Replay["fresh"] = [];
    let next = 0;
    for (let now = start + every_s * 1e6; now <= end; now += every_s * 1e6) {
      while (next < arrivals.length && arrivals[next]!.at_us <= now) arrivals[next++]!.store(store);
      store.sink.flush();
      if (!restarted && now >= start + restartAt_s * 1e6) {
        restarted = true;
        const spikes = store.verdicts.spikes(0, now, 1e6);
        const episodes = store.verdicts.episodes(0, now, 1e6);
        ledger = new LiveLedger(episodes.map((episode) => ({ episode, spikes: spikes.filter((s) => s.episode === episode.id) })));
      }
      const step = ledger.take(judgeRange(store, { from_us: now - WINDOW_US, to_us: now }));
      for (const one of step.fresh) fresh.push({ at_us: now, one });
      final.push(...step.final);
      store.sink.verdicts(step.final);
    }
    store.sink.flush();
    return { final, fresh, report: correlate(store, { select: { from_us: start, to_us: end }, slo_ms: {} }, defaultDecisionTable()) };
  } finally {
    store.close();
  }
}
