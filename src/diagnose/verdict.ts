import {
  type CauseRow,
  CLASSES,
  type DecisionTable,
  type FactRow,
  RESOURCE_CLASSES,
  type Reason,
  type VerdictClass,
} from "../../schemas/index.js";
import type { EpisodeContext, FactReading } from "./episode-context.js";
import { type Measured, measuredOf, unmeasured } from "./measured.js";
import type { Score } from "./scoring.js";

export interface Verdict {
  readonly class: VerdictClass;
  /** What evidence rows are weighed towards: the class, or for an unknown cause the leading candidate. */
  readonly leading: VerdictClass;
  readonly cause: CauseRow | null;
  readonly confidence: number | null;
  readonly band: "high" | "medium" | "low" | null;
  readonly kind: "other" | "unknown" | null;
  readonly reason: Reason | null;
  readonly runnerUp: { readonly class: VerdictClass; readonly confidence: number } | null;
  readonly mixed: string | null;
  readonly caps: readonly string[];
}

interface Situation {
  readonly ctx: EpisodeContext;
  readonly score: Score;
  readonly readings: readonly FactReading[];
  readonly measured: Measured;
  readonly ranked: readonly VerdictClass[];
}

const strengthIn = (readings: readonly FactReading[], fact: string): number => {
  const r = readings.find((x) => x.fact === fact);
  return r === undefined ? 0 : r.strength * Math.min(1, r.quality + 0.25);
};

/** The first cause of the class all of whose facts are there. */
const causeOf = (c: VerdictClass, readings: readonly FactReading[], table: DecisionTable): CauseRow | null =>
  table.causes.find((row) => row.class === c && row.requires.every((r) => strengthIn(readings, r.fact) >= r.min)) ?? null;

const supportOf = (s: Situation, c: VerdictClass) => {
  const { min_support, strong_support } = s.ctx.table.answer;
  let groups = 0;
  let strong = false;
  for (const sum of s.score.groups.values()) {
    if (sum[c] >= min_support) groups++;
    if (sum[c] >= strong_support) strong = true;
  }
  return { groups, strong };
};

/** Host facts this strong, or this share of the lost time in front of the scheduler, are a sign of the CPU; an idle GPU alone is none. */
const CPU_SIGN = 0.15;
const FRONT_SHARE = 0.5;

const cpuSeen = (s: Situation): boolean =>
  (s.score.groups.get("host")?.cpu_tokenization ?? 0) >= CPU_SIGN || (s.ctx.phases.tokenize ?? 0) >= FRONT_SHARE;

/** Upper bounds of the confidence that the inputs allow, by name. */
const capsFor = (s: Situation, c: VerdictClass): Map<string, number> => {
  const { ctx, score, measured } = s;
  const limits = ctx.table.caps;
  const caps = new Map<string, number>();
  for (const rival of RESOURCE_CLASSES) {
    if (rival === c || score.prior[rival] === 0 || !unmeasured(rival, measured)) continue;
    if (score.prior[rival] >= limits.rival_prior) caps.set(`unmeasured:${rival}`, limits.unmeasured_rival);
    else if (score.prior[rival] >= limits.rival_prior_weak) caps.set(`unmeasured:${rival}`, limits.unmeasured_rival_weak);
  }
  if (ctx.incident.given !== undefined) caps.set("no_requests", limits.no_requests);
  else if (ctx.detection.small) caps.set("small_run", limits.small_run);
  if (!measured.any) caps.set("no_telemetry", limits.no_telemetry);
  else if (!measured.pipes) {
    const throttled = c === "compute" && strengthIn(s.readings, "throttle") >= 0.5;
    caps.set("tier:nvidia-smi", throttled ? limits.smi_throttle : (limits.smi[c] ?? 1));
    if (c === "cpu_tokenization" && !measured.cpu) caps.set("no_host_metrics", limits.smi_cpu_without_host);
    if (c === "communication" && !measured.links) caps.set("no_link_metrics", limits.smi_communication_without_links);
  }
  if (c === "cpu_tokenization" && measured.cpu && !cpuSeen(s)) caps.set("no_sign_of_the_cpu", limits.cpu_unseen);
  const { groups } = supportOf(s, c);
  if (groups < 2 && c !== "indeterminate") caps.set("one_group", limits.one_group);
  return caps;
};

/** Least summed quality of readings before telemetry is said to have seen the window. */
const SEEN_QUALITY = 0.3;

const reasonFor = (s: Situation, margin: number, top: VerdictClass, uncapped: number): Reason => {
  const { ctx, score, measured, readings } = s;
  if (ctx.group.ambiguous) return "AMBIGUOUS_SERVER";
  if (!measured.any) return "NO_TELEMETRY";
  const best = Math.max(0, ...readings.filter((r) => r.source !== "requests").map((r) => r.quality));
  if (best < SEEN_QUALITY) return ctx.clockSigma_us > ctx.incident.to - ctx.incident.from ? "CLOCK_UNCERTAIN" : "LOW_COVERAGE";
  const outside = (ctx.phases.network ?? 0) + (ctx.phases.client_lag ?? 0);
  if (outside >= 0.5 || strengthIn(readings, "client_side") >= 0.4) return "CLIENT_SIDE";
  const blind = RESOURCE_CLASSES.some((c) => score.prior[c] >= ctx.table.caps.rival_prior_weak && unmeasured(c, measured));
  if (blind && uncapped < 0.8) return "UNMEASURED_RIVAL";
  if (blind && top !== "indeterminate") return "UNMEASURED_RIVAL";
  if (top !== "indeterminate" && margin < ctx.table.answer.min_margin) return "TIE";
  return "NO_CLASS_SUPPORT";
};

const supported = (s: Situation, c: VerdictClass, uncapped: number, margin: number): boolean => {
  const { groups, strong } = supportOf(s, c);
  if (groups >= 2) return true;
  if (groups >= 1 && s.score.prior[c] >= s.ctx.table.answer.prior_with_one_group) return true;
  return strong && uncapped >= 0.75 && margin >= 0.35;
};

/** Answers with a class, with a known cause outside of the five, or with the reason why not. */
export const decide = (ctx: EpisodeContext, score: Score, readings: readonly FactReading[]): Verdict => {
  const { table } = ctx;
  const ranked = [...CLASSES].sort((a, b) => score.probability[b] - score.probability[a] || CLASSES.indexOf(a) - CLASSES.indexOf(b));
  const s: Situation = { ctx, score, readings, measured: measuredOf(ctx.group), ranked };
  const top = ranked[0]!;
  const second = ranked[1]!;
  const uncapped = score.probability[top];
  const margin = uncapped - score.probability[second];
  const caps = capsFor(s, top);
  const confidence = Math.min(table.max_confidence, uncapped, ...caps.values());
  const names = [...caps.entries()].filter(([, v]) => v < uncapped).map(([name, v]) => `${name} <= ${v}`);
  const leading = top === "indeterminate" ? ranked.find((c) => c !== "indeterminate")! : top;
  const unknown = (reason: Reason): Verdict => ({
    class: "indeterminate",
    leading,
    cause: null,
    confidence: null,
    band: null,
    kind: "unknown",
    reason,
    runnerUp: null,
    mixed: null,
    caps: names,
  });
  if (ctx.group.ambiguous) return unknown("AMBIGUOUS_SERVER");
  const cause = causeOf(top, readings, table);
  const band = confidence >= table.bands.high ? "high" : confidence >= table.bands.medium ? "medium" : "low";
  const runnerUp = { class: second, confidence: score.probability[second] };
  if (top === "indeterminate") {
    if (cause === null || confidence < table.answer.min_confidence) return unknown(reasonFor(s, margin, top, uncapped));
    const reason: Reason | null = cause.cause === "client-network" ? "CLIENT_SIDE" : null;
    return { class: top, leading: top, cause, confidence, band, kind: "other", reason, runnerUp, mixed: null, caps: names };
  }
  if (confidence < table.answer.min_confidence || margin < table.answer.min_margin || !supported(s, top, uncapped, margin))
    return unknown(reasonFor(s, margin, top, uncapped));
  const both = score.probability[second] >= 0.3 && uncapped + score.probability[second] >= 0.8 && second !== "indeterminate";
  const mixed = both && supportOf(s, second).groups >= 1 ? `${top}+${second}` : null;
  return { class: top, leading: top, cause, confidence, band, kind: null, reason: null, runnerUp, mixed, caps: names };
};

/** The missing fact that would tell the two leading candidates apart best. */
export const measureNext = (score: Score, missing: readonly FactRow[]): string | null => {
  const [a, b] = [...RESOURCE_CLASSES].sort((x, y) => score.probability[y] - score.probability[x]);
  let best: string | null = null;
  let most = 0;
  for (const row of missing) {
    const tells = Math.abs((row.weights[a!]?.[0] ?? 0) - (row.weights[b!]?.[0] ?? 0));
    if (tells > most) {
      most = tells;
      best = row.measure;
    }
  }
  return best;
};
