import { AGENT_METRICS, type MetricSpec } from "../../schemas/metric-catalogue.js";
import type { Episode, Spike } from "../../schemas/report.js";
import type { ExpositionFamily } from "../text/exposition-writer.js";

interface Kind {
  readonly class: string;
  readonly cause: string | null;
  readonly metric: string;
  readonly server: string | null;
}

interface Tally {
  readonly labels: Readonly<Record<string, string>>;
  value: number;
}

/** What was found, counted by class, cause, metric and server. */
export interface SpikeCounters {
  add(final: { readonly episode: Episode; readonly spikes: readonly Spike[] }): void;
  /** Replaces what is found and not final yet. */
  open(episodes: readonly Episode[]): void;
  families(): ExpositionFamily[];
}

/** What was counted before a restart: counters go on from there. */
export interface CountedBefore {
  readonly spikes: readonly (Kind & { readonly spikes: number; readonly excess_ms: number })[];
  readonly episodes: readonly (Kind & { readonly episodes: number })[];
}

export function createSpikeCounters(before: CountedBefore): SpikeCounters {
  const spikes = new Map<string, Tally>();
  const excess = new Map<string, Tally>();
  const episodes = new Map<string, Tally>();
  let open = new Map<string, Tally>();
  for (const kind of before.spikes) {
    count(spikes, kind, kind.spikes);
    count(excess, kind, Math.max(0, kind.excess_ms) / 1000);
  }
  for (const kind of before.episodes) count(episodes, kind, kind.episodes);
  return {
    add({ episode, spikes: rows }) {
      const server = episode.server ?? null;
      count(episodes, { ...kindOf(episode), server }, 1);
      for (const spike of rows) {
        const kind = { ...kindOf(spike), server };
        count(spikes, kind, 1);
        // A lower bound may lie below what was expected; counters never fall.
        count(excess, kind, Math.max(0, spike.excess_ms) / 1000);
      }
    },
    open(found) {
      open = new Map();
      for (const episode of found) count(open, { ...kindOf(episode), server: episode.server ?? null }, 1);
    },
    families: () => [
      family(AGENT_METRICS.spikes, spikes),
      family(AGENT_METRICS.spikeExcess, excess),
      family(AGENT_METRICS.episodes, episodes),
      family(AGENT_METRICS.episodesOpen, open),
    ],
  };
}

const kindOf = (of: Pick<Spike, "class" | "cause" | "metric">): Omit<Kind, "server"> => ({
  class: of.class,
  cause: of.cause,
  metric: of.metric,
});

function count(tallies: Map<string, Tally>, kind: Kind, by: number): void {
  const labels: Record<string, string> = {
    class: kind.class,
    cause: kind.cause ?? "unknown",
    metric: kind.metric,
    ...(kind.server === null ? {} : { server: kind.server }),
  };
  const key = JSON.stringify(labels);
  const tally = tallies.get(key);
  if (tally) tally.value += by;
  else tallies.set(key, { labels, value: by });
}

const family = (spec: MetricSpec, tallies: ReadonlyMap<string, Tally>): ExpositionFamily => ({
  name: spec.name,
  help: spec.help,
  type: spec.type,
  samples: [...tallies.values()],
});
