import { createSpikeCounters } from "../../export/spike-families.js";
import type { Logger } from "../../platform/logger.js";
import type { Store, StoreSink } from "../../store/open-store.js";
import type { ExpositionFamily } from "../../text/exposition-writer.js";
import type { Route } from "../http-api.js";
import { ActivityWatch } from "./activity-watch.js";
import { episodeRoutes } from "./episode-routes.js";
import type { LiveEpisode } from "./live-ledger.js";
import { type Judge, type LiveHealth, startLiveLoop, WINDOW_US } from "./live-loop.js";

export interface Live {
  /** The store's sink, watched for what there is to judge. */
  readonly sink: StoreSink;
  readonly health: LiveHealth;
  readonly routes: readonly Route[];
  families(): ExpositionFamily[];
  stop(): Promise<void>;
}

/** Episodes that are read back at a start. */
const MOST_STORED = 1000;
const MOST_STORED_SPIKES = 100_000;

/** Live judging of what goes into a store. Without a judge the routes and counters tell what was found before. */
export function startLive(store: Store, deps: { readonly judge: Judge | null; readonly log: Logger; wallUs(): number }): Live {
  const { judge, log, wallUs } = deps;
  const { sink } = store;
  const counters = createSpikeCounters(store.verdicts.totals());
  const watch = new ActivityWatch();
  const loop =
    judge &&
    startLiveLoop({
      judge,
      watch,
      counters,
      log,
      stored: storedEpisodes(store, wallUs()),
      wallUs,
      commit: () => sink.flush(),
      keep: (judged) => sink.verdicts(judged),
    });
  return {
    sink: {
      samples(source, batch) {
        watch.samples(batch);
        sink.samples(source, batch);
      },
      requests(source, batch) {
        watch.requests(batch);
        sink.requests(source, batch);
      },
      series: (source, batch) => sink.series(source, batch),
      marks: (batch, run) => sink.marks(batch, run),
      rejected: (source, reason, count) => sink.rejected(source, reason, count),
      manifest: (run, facts) => sink.manifest(run, facts),
      origin: (name) => sink.origin(name),
      verdicts: (batch, run) => sink.verdicts(batch, run),
      health: () => sink.health(),
      flush: () => sink.flush(),
    },
    health: loop?.health ?? { passes: 0, failures: 0, durationMs: null },
    routes: episodeRoutes({
      verdicts: store.verdicts,
      provisional: () => loop?.provisional() ?? [],
      recent: () => loop?.recent() ?? [],
      nowUs: wallUs,
    }),
    families: () => counters.families(),
    stop: async () => loop?.stop(),
  };
}

/** What was final before a restart, as far back as a pass looks: it is not told again. */
function storedEpisodes(store: Store, now_us: number): LiveEpisode[] {
  const from_us = now_us - WINDOW_US;
  const spikes = store.verdicts.spikes(from_us - WINDOW_US, now_us, MOST_STORED_SPIKES);
  return store.verdicts
    .episodes(from_us, now_us, MOST_STORED)
    .map((episode) => ({ episode, spikes: spikes.filter((s) => s.episode === episode.id) }));
}
