import type { Episode, FactRow } from "../../schemas/index.js";
import { contentId } from "../core/content-id.js";
import { formatIso } from "../time/iso-time.js";
import { causedBy } from "./caused-by.js";
import { changeBefore } from "./changes.js";
import { driverOf } from "./driver.js";
import type { EpisodeContext, FactReading, GroupContext } from "./episode-context.js";
import { evidenceRows, rounded } from "./evidence.js";
import { FACTS } from "./facts/index.js";
import { splitPending } from "./gauge-split.js";
import { runningSteps } from "./group-context.js";
import type { Incident } from "./incidents.js";
import type { PhaseShares } from "./phase-shares.js";
import { attributePhases } from "./phases.js";
import { type Score, score } from "./scoring.js";
import { decide, measureNext, type Verdict } from "./verdict.js";

/** Reads every fact of the table that has an input. */
export const readFacts = (ctx: EpisodeContext): FactReading[] =>
  ctx.table.facts.flatMap((row) => {
    const reading = FACTS[row.name]?.(ctx, row) ?? null;
    return reading === null || Number.isNaN(reading.strength) || Number.isNaN(reading.quality) ? [] : [reading];
  });

export const episodeContext = (group: GroupContext, incident: Incident): EpisodeContext => {
  const split = splitPending(
    group.group.servers,
    group.load,
    incident.weight,
    (t) => group.view.lag_us(t),
    runningSteps(group),
    group.traceShare,
  );
  return { ...group, incident, phases: attributePhases(incident, group.q, group.all, group.detection, group.usualParts, split) };
};

const roundedShares = (phases: PhaseShares): PhaseShares =>
  Object.fromEntries(Object.entries(phases).map(([phase, share]) => [phase, rounded(share, 4) ?? 0]));

/** Requests at the very start of a server's life, when graphs are captured and caches are cold. */
const WARMUP_ROWS = 20;
const WARMUP_MIN_RUN = 100;

const isWarmup = (group: GroupContext, incident: Incident): boolean =>
  group.q.n >= WARMUP_MIN_RUN && incident.rows.length >= 2 && incident.rows[0]! === 0 && incident.rows.every((r) => r < WARMUP_ROWS);

const remedyOf = (verdict: Verdict, readings: readonly FactReading[], incident: Incident, ctx: EpisodeContext): Episode["remedy"] => {
  if (verdict.cause === null || verdict.confidence === null) return null;
  const doses = verdict.cause.requires.map((r) => readings.find((x) => x.fact === r.fact)?.dose ?? Number.NaN).filter(Number.isFinite);
  const share = doses.length > 0 ? Math.min(1, Math.max(...doses)) : verdict.confidence;
  const text = ctx.table.causes.find((c) => c === verdict.cause)!.remedy;
  return { text, addresses_ms: rounded(incident.excess_ms * share, 1) ?? 0 };
};

const separator = (ctx: EpisodeContext, a: string, b: string): string =>
  ctx.table.separators.find((s) => s.classes.includes(a as never) && s.classes.includes(b as never))?.text ??
  "more telemetry of the window";

const markBefore = (ctx: EpisodeContext): NonNullable<Episode["after_mark"]> | null => {
  const change = changeBefore(ctx.changes, ctx.incident.from);
  if (change === null) return null;
  const before_ms = rounded(Math.max(0, ctx.incident.from - change.ts_us) / 1000, 1) ?? 0;
  return { kind: change.kind, text: change.text, time: formatIso(Math.round(change.ts_us)), before_ms };
};

/** Judges one incident: what it rests on, what it is, what to do. */
export const judgeIncident = (group: GroupContext, incident: Incident, missing: readonly FactRow[]): { episode: Episode; score: Score } => {
  const ctx = episodeContext(group, incident);
  const { table } = ctx;
  const readings = readFacts(ctx);
  const scored = score(readings, ctx.phases, table, ctx.excluded);
  const decided = decide(ctx, scored, readings);
  const verdict: Verdict = isWarmup(group, incident)
    ? {
        ...decided,
        class: "indeterminate",
        cause: null,
        confidence: null,
        band: null,
        kind: "unknown",
        reason: "WARMUP",
        runnerUp: null,
        mixed: null,
      }
    : decided;
  const { rows, prior_nats, score_nats } = evidenceRows(ctx, scored, verdict.leading);
  const start = formatIso(Math.round(incident.from));
  const ids = incident.rows.slice(0, 3).map((r) => group.all.request_id[group.q.row[r]!]!);
  const runner = verdict.runnerUp;
  const episode: Episode = {
    id: `ep-${contentId([incident.metric, start, group.group.name ?? "", ...ids].join("|"))}`,
    start,
    end: formatIso(Math.round(incident.to)),
    metric: incident.metric,
    requests: incident.rows.length,
    excess_ms: rounded(incident.excess_ms, 1) ?? 0,
    class: verdict.class,
    cause: verdict.cause?.cause ?? null,
    driver: verdict.class === "indeterminate" ? null : driverOf(ctx, readings),
    confidence: verdict.confidence === null ? null : rounded(verdict.confidence, 4),
    band: verdict.band,
    runner_up:
      runner === null
        ? null
        : {
            class: runner.class,
            confidence: rounded(runner.confidence, 4) ?? 0,
            separated_by: separator(ctx, verdict.class, runner.class),
          },
    phases: roundedShares(ctx.phases),
    evidence: rows,
    missing: missing.map((row) => row.name),
    kind: verdict.kind,
    reason: verdict.reason,
    basis: incident.given?.basis ?? "requests",
    confidence_basis: table.confidence_basis,
    caused_by: verdict.kind === "unknown" ? [] : causedBy(ctx, verdict.class),
    remedy: remedyOf(verdict, readings, incident, ctx),
    prior_nats,
    score_nats,
    mixed: verdict.mixed,
    caps: [...verdict.caps],
    measure_next: measureNext(scored, missing),
    server: group.group.name,
    after_mark: markBefore(ctx),
    level_shift: incident.rows.length > 0.5 * group.q.n,
  };
  return { episode, score: scored };
};
