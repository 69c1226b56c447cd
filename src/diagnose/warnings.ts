import type { DiagnosisInput, Report, Track } from "../../schemas/index.js";
import type { GroupContext } from "./episode-context.js";
import type { TelemetryView } from "./telemetry-view.js";

type Warning = Report["data"]["warnings"][number];

/** Below this share of the server's own count of finished requests the trace is a sample of the traffic. */
export const WHOLE_TRACE = 0.9;
const SLO_ONLY_BELOW = 10;
const MANY_IDLE_US = 1800e6;

/** Requests seen over requests that the server finished while it was read; NaN without its counter. */
export const traceCoverage = (ctx: Pick<GroupContext, "group" | "q" | "view">): number => {
  let finished = 0;
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const t of ctx.group.servers) {
    const series = ctx.view.rate(t, "success_total");
    for (let i = 0; i < series.n; i++) finished += (series.value[i]! * (series.to[i]! - series.from[i]!)) / 1e6;
    if (series.n > 0) {
      from = Math.min(from, series.from[0]!);
      to = Math.max(to, series.to[series.n - 1]!);
    }
  }
  if (!(finished > 0)) return Number.NaN;
  let seen = 0;
  for (let i = 0; i < ctx.q.n; i++) if (ctx.q.end[i]! >= from && ctx.q.end[i]! <= to) seen++;
  return seen / finished;
};

const stale = (tracks: readonly Track[], view: TelemetryView): string[] =>
  [...new Set(tracks.filter((t) => view.refresh(t).repeated !== null).map((t) => t.source.name))].sort();

export const runWarnings = (input: DiagnosisInput, contexts: readonly GroupContext[], view: TelemetryView): Warning[] => {
  const out: Warning[] = input.warnings.map((w) => ({ code: w.code, text: w.text }));
  for (const name of stale(input.telemetry.tracks, view))
    out.push({ code: "STALE_SAMPLES", text: `${name} is read faster than it refreshes; repeated readings were dropped` });
  for (const ctx of contexts) {
    const who = ctx.group.name === null ? "" : ` of ${ctx.group.name}`;
    const coverage = traceCoverage(ctx);
    if (coverage < WHOLE_TRACE)
      out.push({ code: "PARTIAL_TRACE", text: `the requests${who} are ${Math.round(coverage * 100)} % of what the server finished` });
    const idle = ctx.q.n < 2 ? 0 : ctx.q.arrival[ctx.q.n - 1]! - ctx.q.arrival[0]! - ctx.q.activeSpan;
    if (idle > MANY_IDLE_US && idle > ctx.q.activeSpan)
      out.push({
        code: "REQUESTS_APART",
        text: `the requests${who} lie far apart: ${Math.round(idle / 60e6)} min of pauses beside ${Math.round(ctx.q.activeSpan / 60e6)} min of traffic; are all their clocks right?`,
      });
    if (ctx.q.n < SLO_ONLY_BELOW)
      out.push({
        code: "FEW_REQUESTS",
        text: `${ctx.q.n === 1 ? "1 request is" : `${ctx.q.n} requests are`} too few for a usual latency${who}: only limits given with --slo are judged`,
      });
    else if (ctx.detection.small)
      out.push({ code: "FEW_REQUESTS", text: `${ctx.q.n} requests${who}: single slow requests are easily missed, confidence is capped` });
    if (ctx.group.ambiguous) out.push({ code: "AMBIGUOUS_SERVER", text: `${ctx.q.n} requests name none of several servers` });
  }
  return out;
};
