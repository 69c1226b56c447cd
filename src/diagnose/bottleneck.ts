import { CLASSES, RESOURCE_CLASSES, type Report, type VerdictClass } from "../../schemas/index.js";
import { integralOver, stepFunction } from "../core/step-function.js";
import type { EpisodeContext, FactReading, GroupContext } from "./episode-context.js";
import { rounded } from "./evidence.js";
import { splitPending } from "./gauge-split.js";
import { runningSteps } from "./group-context.js";
import type { Incident } from "./incidents.js";
import type { PhaseShares } from "./phase-shares.js";
import { score } from "./scoring.js";

/** The whole run of one server as if it were one incident: every request's time counts, spike or not. */
export const wholeRun = (group: GroupContext): EpisodeContext | null => {
  const { inFlight, pending, decoding } = group.load;
  const last = inFlight.at.length - 1;
  if (last < 1) return null;
  const from = inFlight.at[0]!;
  const to = inFlight.at[last]!;
  const weight = stepFunction(inFlight.at, inFlight.value);
  const support = stepFunction(
    inFlight.at,
    inFlight.value.map((v) => (v > 0 ? 1 : 0)),
  );
  const incident: Incident = {
    rows: Array.from({ length: group.q.n }, (_, i) => i),
    losses: [],
    metric: "e2e",
    from,
    to,
    weight,
    support,
    excess_ms: inFlight.integral[last]! / 1000,
  };
  const waiting = integralOver(pending, from, to);
  const decode = integralOver(decoding, from, to);
  const split = splitPending(group.group.servers, group.load, pending, (t) => group.view.lag_us(t), runningSteps(group), group.traceShare);
  const total = waiting + decode;
  if (!(total > 0)) return null;
  const wait = waiting / total;
  const phases: PhaseShares =
    split === null
      ? { decode: decode / total, unattributed: wait }
      : { decode: decode / total, ingress: wait * split.ingress, queue: wait * split.queue, prefill: wait * split.prefill };
  return { ...group, incident, phases };
};

type Bottleneck = Report["summary"]["bottleneck"];

/** Fewer requests, or none of a server's own readings, cannot name what limits a whole run. */
const MIN_REQUESTS = 30;
const canBeKnown = ({ group, q }: EpisodeContext): boolean =>
  q.n >= MIN_REQUESTS && group.gpus.length + group.servers.length + group.processes.length > 0;

/** Share of all request time by the resource that it was spent on, servers weighed by their time; no class where it cannot be known. */
export const bottleneckOf = (runs: readonly { readonly ctx: EpisodeContext; readonly readings: readonly FactReading[] }[]): Bottleneck => {
  const by = Object.fromEntries(CLASSES.map((c) => [c, 0])) as Record<VerdictClass, number>;
  let total = 0;
  for (const { ctx, readings } of runs) {
    const p = score(readings, ctx.phases, ctx.table, ctx.excluded).probability;
    for (const c of CLASSES) by[c] += p[c] * ctx.incident.excess_ms;
    total += ctx.incident.excess_ms;
  }
  if (!(total > 0) || !runs.every((r) => canBeKnown(r.ctx))) {
    for (const c of CLASSES) by[c] = c === "indeterminate" ? 1 : 0;
    return { by_class: by, class: null, confidence: null };
  }
  for (const c of CLASSES) by[c] = rounded(by[c] / total, 4) ?? 0;
  const top = [...RESOURCE_CLASSES].sort((a, b) => by[b] - by[a])[0]!;
  const clear = by[top] >= 0.5;
  return { by_class: by, class: clear ? top : null, confidence: clear ? Math.min(0.97, by[top]) : null };
};
