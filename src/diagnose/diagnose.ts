import {
  CLASSES,
  type DecisionTable,
  type DiagnosisInput,
  type Episode,
  type Report,
  type Spike,
  type VerdictClass,
} from "../../schemas/index.js";
import { formatIso } from "../time/iso-time.js";
import { bottleneckOf, wholeRun } from "./bottleneck.js";
import { carriedInputs, missingFacts } from "./carried-inputs.js";
import type { GroupContext } from "./episode-context.js";
import type { Incident } from "./incidents.js";
import { judgeIncident, readFacts } from "./judge-incident.js";
import { mergeSameKind } from "./merge-incidents.js";
import { readRun } from "./read-run.js";
import { sourceRows } from "./sources.js";
import { spikeRows } from "./spike-rows.js";
import { latencySummary } from "./summary.js";
import { runWarnings } from "./warnings.js";

const time = (us: number): string | null => (Number.isFinite(us) ? formatIso(Math.round(us)) : null);

/**
 * The post-mortem of one run: finds the slow requests, joins them with the telemetry of the phases in which they lost their time, and
 * says which resource made them slow, or why that cannot be said. Pure: no clock, no randomness, no locale; the same input gives the
 * same bytes. Times in µs and durations in ms as their names say.
 */
export const diagnose = (given: DiagnosisInput, table: DecisionTable): Report => {
  const { input, view, found, first, last } = readRun(given, table);
  const contexts = found.map((f) => f.ctx);
  const missing = missingFacts(table, carriedInputs(input));
  const episodes: Episode[] = [];
  const spikes: Spike[] = [];
  for (const { ctx, incidents } of found) {
    const judge = (incident: Incident) => judgeIncident(ctx, incident, missing).episode;
    const judged = incidents.map((incident) => ({ incident, episode: judge(incident) }));
    for (const { incident, episode } of mergeSameKind(judged, ctx.q, ctx.detection, judge)) {
      episodes.push(episode);
      for (const spike of spikeRows(incident, episode, ctx.q, ctx.all, ctx.detection)) spikes.push(spike);
    }
  }
  episodes.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : a.id < b.id ? -1 : 1));
  spikes.sort((a, b) =>
    a.start < b.start
      ? -1
      : a.start > b.start
        ? 1
        : a.request_id < b.request_id
          ? -1
          : a.request_id > b.request_id
            ? 1
            : a.metric < b.metric
              ? -1
              : 1,
  );
  const runs = contexts.flatMap((ctx) => wholeRun(ctx) ?? []).map((ctx) => ({ ctx, readings: readFacts(ctx) }));
  const byClass = Object.fromEntries(CLASSES.map((c) => [c, 0])) as Record<VerdictClass, number>;
  for (const s of spikes) byClass[s.class]++;
  return {
    schema: "whyslow.report/v1",
    run: {
      id: input.run.id,
      start: time(input.run.start_us ?? first),
      end: time(input.run.end_us ?? last),
      manifest: { ...input.run.manifest },
    },
    data: {
      requests: input.requests.n,
      sources: sourceRows(given, view, input.requests.n > 0 ? input.requests.sent_us[0]! : first, last),
      clock: { offset_ms: input.clock.offset_ms, uncertainty_ms: input.clock.uncertainty_ms, method: input.clock.method },
      warnings: runWarnings(input, contexts, view),
      missing: missing.map((row) => row.name),
      joined: input.clock.joined,
      ...(input.baseline === undefined ? {} : { baseline: input.baseline.run }),
    },
    summary: { ...latencySummary(input.requests), spikes: { total: spikes.length, by_class: byClass }, bottleneck: bottleneckOf(runs) },
    episodes,
    spikes,
  };
};
