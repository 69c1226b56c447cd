import type { Spike } from "../../../schemas/report.js";
import type { VerdictReader } from "../../store/open-store.js";
import { parseIso } from "../../time/iso-time.js";
import { type Answer, jsonAnswer, jsonError, type Route } from "../http-api.js";
import { type ReportRange, readRange } from "../report-route.js";
import type { LiveEpisode } from "./live-ledger.js";

export interface EpisodeRouteDeps {
  readonly verdicts: VerdictReader;
  provisional(): readonly LiveEpisode[];
  recent(): readonly LiveEpisode[];
  nowUs(): number;
}

const MOST_EPISODES = 1000;
const MOST_SPIKES = 10_000;

/** `/api/v1/episodes` and `/api/v1/spikes`: what the agent found while it ran; `final: false` may still change. */
export function episodeRoutes(deps: EpisodeRouteDeps): Route[] {
  const unsettled = (): { readonly one: LiveEpisode; readonly final: boolean }[] => [
    ...deps.recent().map((one) => ({ one, final: true })),
    ...deps.provisional().map((one) => ({ one, final: false })),
  ];
  const episodes = (range: ReportRange): unknown => {
    const found = new Map(deps.verdicts.episodes(range.from_us, range.to_us, MOST_EPISODES).map((e) => [e.id, { ...e, final: true }]));
    for (const { one, final } of unsettled()) {
      const { episode } = one;
      if (!(timeOf(episode.end) >= range.from_us && timeOf(episode.start) <= range.to_us)) continue;
      if (!found.has(episode.id)) found.set(episode.id, { ...episode, final });
    }
    return { episodes: [...found.values()].sort((a, b) => compare(a.start, b.start) || compare(a.id, b.id)) };
  };
  const spikes = (range: ReportRange): unknown => {
    const found = new Map(deps.verdicts.spikes(range.from_us, range.to_us, MOST_SPIKES).map((s) => [keyOf(s), { ...s, final: true }]));
    for (const { one, final } of unsettled())
      for (const s of one.spikes)
        if (timeOf(s.start) >= range.from_us && timeOf(s.start) <= range.to_us && !found.has(keyOf(s)))
          found.set(keyOf(s), { ...s, final });
    return { spikes: [...found.values()].sort((a, b) => compare(a.start, b.start) || compare(keyOf(a), keyOf(b))) };
  };
  const route = (path: string, help: string, read: (range: ReportRange) => unknown): Route => ({
    path,
    help,
    answer(query): Answer {
      const range = readRange(query, deps.nowUs());
      return typeof range === "string" ? jsonError(400, "USAGE", range) : jsonAnswer(read(range));
    },
  });
  return [
    route("/api/v1/episodes", "episodes found while the agent runs: ?since=1h, or ?from=TIME&to=TIME", episodes),
    route("/api/v1/spikes", "slow requests found while the agent runs: ?since=1h, or ?from=TIME&to=TIME", spikes),
  ];
}

const timeOf = (iso: string): number => parseIso(iso) ?? Number.NaN;
const keyOf = (s: Spike): string => `${s.start}|${s.request_id}|${s.metric}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
