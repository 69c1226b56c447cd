import {
  CLASSES,
  type DecisionTable,
  type DiagnosisInput,
  type Episode,
  type Report,
  type Spike,
  type VerdictClass,
} from "../../schemas/index.js";
import { valueAt } from "../core/step-function.js";
import { formatIso } from "../time/iso-time.js";
import { bottleneckOf, wholeRun } from "./bottleneck.js";
import { canonicalTelemetry } from "./canonical-telemetry.js";
import { carriedInputs, missingFacts } from "./carried-inputs.js";
import type { GroupContext } from "./episode-context.js";
import { groupContext } from "./group-context.js";
import { growIncidents } from "./grow-incidents.js";
import { disturbedTime, findIncidents, type Incident } from "./incidents.js";
import { judgeIncident, readFacts } from "./judge-incident.js";
import { findLosses } from "./losses.js";
import { mergeOverlapping, mergeSameKind } from "./merge-incidents.js";
import { isNatural } from "./natural-load.js";
import { serverGroups } from "./server-groups.js";
import { sourceRows } from "./sources.js";
import { spikeRows } from "./spike-rows.js";
import { latencySummary } from "./summary.js";
import { telemetryIncidents } from "./telemetry-incidents.js";
import { TelemetryView } from "./telemetry-view.js";
import { runWarnings } from "./warnings.js";

/** Telemetry this close to an incident is not taken as usual, µs. */
const GUARD_US = 1e6;

const lastTime = (input: DiagnosisInput): number => {
  let last = input.run.end_us ?? Number.NEGATIVE_INFINITY;
  for (const t of input.telemetry.tracks) if (t.ts_us.length > 0) last = Math.max(last, t.ts_us[t.ts_us.length - 1]!);
  for (let i = 0; i < input.requests.n; i++) {
    const end = input.requests.end_us[i]!;
    last = Math.max(last, Number.isFinite(end) ? end : input.requests.arrival_us[i]!);
  }
  return last;
};

const firstTime = (input: DiagnosisInput): number => {
  let first = input.run.start_us ?? Number.POSITIVE_INFINITY;
  for (const t of input.telemetry.tracks) if (t.ts_us.length > 0) first = Math.min(first, t.ts_us[0]!);
  if (input.requests.n > 0) first = Math.min(first, input.requests.sent_us[0]!);
  return first;
};

const time = (us: number): string | null => (Number.isFinite(us) ? formatIso(Math.round(us)) : null);

/** All incidents of one server, those that only telemetry shows included. */
const incidentsOf = (ctx: GroupContext): Incident[] => {
  const { q, all, detection } = ctx;
  const byRequests = mergeOverlapping(findIncidents(q, detection, findLosses(q, all, detection)), q, detection);
  const unusual = byRequests.filter((i) => !isNatural(i, q, ctx.natural, detection));
  const grown = growIncidents(unusual, q, all, detection);
  const lost = disturbedTime(grown, 0);
  return [...grown, ...telemetryIncidents(ctx.group, ctx.view, (t) => valueAt(lost, t) > 0)];
};

/**
 * The post-mortem of one run: finds the slow requests, joins them with the telemetry of the phases in which they lost their time, and
 * says which resource made them slow, or why that cannot be said. Pure: no clock, no randomness, no locale; the same input gives the
 * same bytes. Times in µs and durations in ms as their names say.
 */
export const diagnose = (given: DiagnosisInput, table: DecisionTable): Report => {
  const input = canonicalTelemetry(given);
  const view = new TelemetryView();
  const first = firstTime(input);
  const last = lastTime(input);
  const contexts: GroupContext[] = serverGroups(input)
    .filter((g) => g.rows.length > 0 || g.servers.length > 0)
    .map((g) => groupContext(input, g, view, table, last));
  const found = contexts.map((ctx) => ({ ctx, incidents: incidentsOf(ctx) }));
  view.setDisturbed(
    disturbedTime(
      found.flatMap((f) => f.incidents),
      GUARD_US,
    ),
  );
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
    },
    summary: { ...latencySummary(input.requests), spikes: { total: spikes.length, by_class: byClass }, bottleneck: bottleneckOf(runs) },
    episodes,
    spikes,
  };
};
