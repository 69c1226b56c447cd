import { ramp } from "../../core/ramp.js";
import { integralOver, lastAtOrBefore, meanOver, type StepFunction } from "../../core/step-function.js";
import { type EpisodeContext, type Fact, type FactReading, rampOf } from "../episode-context.js";
import { weightBefore } from "../incident-window.js";
import { readSeries } from "../reading.js";
import { factOf } from "./fact-of.js";

const SOURCE = "requests";

const fromTrace = (fact: string, strength: number, value: number, expected: number, dose = Number.NaN): FactReading => ({
  fact,
  strength,
  value,
  expected,
  quality: 1,
  source: SOURCE,
  contrast: Number.NaN,
  dose,
});

/** The stretch in which the incident was fed: from its first arrival until half of the weight is spent. */
const feeding = (ctx: EpisodeContext): { from: number; to: number } => {
  const { incident, q } = ctx;
  let from = incident.from;
  for (const r of incident.rows) if (q.arrival[r]! < from) from = q.arrival[r]!;
  let to = incident.from;
  for (const at of incident.weight.at) {
    to = at;
    if (weightBefore(incident.weight, at) >= 0.5) break;
  }
  return { from, to: Math.max(to, from + 1e6) };
};

const MIN_ARRIVALS = 12;

/** Rate of arrivals in the feeding stretch, by count or by a running sum of work, over the usual; NaN with too few to tell. */
const surge = (ctx: EpisodeContext, work: Float64Array | null): number => {
  const { q } = ctx;
  if (q.n < 2) return Number.NaN;
  const { from, to } = feeding(ctx);
  const first = lastAtOrBefore(q.arrival, from - 1) + 1;
  const after = lastAtOrBefore(q.arrival, to) + 1;
  const inside = work === null ? after - first : work[after]! - work[first]!;
  const total = (work === null ? q.n : work[q.n]!) - inside;
  const span = q.activeSpan - (to - from);
  if (after - first < MIN_ARRIVALS || !(total > 0) || !(span > (to - from) / 2)) return Number.NaN;
  return inside / (to - from) / (total / span);
};

export const arrivalRatio = (ctx: EpisodeContext): number => surge(ctx, null);

export const prefillSurge: Fact = (ctx, row) => {
  if (ctx.traceShare < 1) return null;
  const ratio = surge(ctx, ctx.arrivedTokens);
  return Number.isNaN(ratio) ? null : fromTrace(row.name, ramp(ratio, ...rampOf(row, "surge")), ratio, 1);
};

export const arrivalSurge: Fact = (ctx, row) => {
  const ratio = arrivalRatio(ctx);
  return Number.isNaN(ratio) ? null : fromTrace(row.name, ramp(ratio, ...rampOf(row, "surge")), ratio, 1);
};

/** A trace that holds only a part of the traffic leaves it to the server's own gauge and to its counter of prompt tokens. */
const batchFromGauge: Fact = (ctx, row) => {
  const read = (column: string, kind: "level" | "rate") => {
    const sourced = ctx.view.best(ctx.group.servers, column, kind);
    return sourced === null ? null : readSeries(ctx, sourced, { width: 5, noise: 1 });
  };
  const running = read("running", "level");
  const tokens = read("prompt_tokens_total", "rate");
  if (running === null || tokens === null || !(running.usual > 0) || !(tokens.usual > 0)) return null;
  const ratio = running.value / running.usual;
  const strength = Math.min(ramp(ratio, ...rampOf(row, "batch")), ramp(tokens.value / tokens.usual, ...rampOf(row, "arrivals")));
  return factOf(row.name, running, strength, { value: ratio, expected: 1, contrast: Number.NaN });
};

/** A larger batch is the effect of any slowdown; only one that follows a surge of arrivals is a cause. */
export const batchSurge: Fact = (ctx, row) => {
  if (ctx.traceShare < 1) return batchFromGauge(ctx, row);
  const arrivals = arrivalRatio(ctx);
  const { incident, load, q } = ctx;
  if (q.n < 2 || Number.isNaN(arrivals)) return null;
  const usual = integralOver(load.decoding, q.arrival[0]!, q.arrival[q.n - 1]!) / q.activeSpan;
  const ratio = meanOver(load.decoding, incident.from, incident.to) / usual;
  if (!Number.isFinite(ratio)) return null;
  const strength = Math.min(ramp(ratio, ...rampOf(row, "batch")), ramp(arrivals, ...rampOf(row, "arrivals")));
  return fromTrace(row.name, strength, ratio, 1);
};

/** Weighted share of the incident's time in which `busy` is at least one. */
const shareUnder = (busy: StepFunction, weight: StepFunction): number => {
  const last = weight.at.length - 1;
  let sum = 0;
  for (let i = 0; i < last; i++) {
    if (!(weight.value[i]! > 0)) continue;
    sum += weight.value[i]! * integralOver(busy, weight.at[i]!, weight.at[i + 1]!);
  }
  return sum / weight.integral[last]!;
};

/** Predicted prefills against the lost time: the strongest sign of prefill interference, and it needs no GPU telemetry. */
export const prefillDose: Fact = (ctx, row) => {
  if (ctx.prefillBusy === null) return null;
  const busy = ctx.prefillBusy;
  const dose = shareUnder(busy, ctx.incident.weight);
  const { q, incident } = ctx;
  const all = integralOver(busy, q.arrival[0]!, q.arrival[q.n - 1]!) - integralOver(busy, incident.from, incident.to);
  const span = q.activeSpan - (incident.to - incident.from);
  const usual = span > 0 ? all / span : Number.NaN;
  const growth = ramp(dose - usual, ...rampOf(row, "growth"));
  const strength = Math.min(ramp(dose, ...rampOf(row, "dose")), Number.isNaN(growth) ? 1 : growth);
  return fromTrace(row.name, strength, dose, usual);
};

export const transferWait: Fact = (ctx, row) => {
  const { incident, q } = ctx;
  if (!incident.rows.some((r) => Number.isFinite(q.transfer[r]!))) return null;
  const share = ctx.phases.transfer ?? 0;
  return fromTrace(row.name, ramp(share, ...rampOf(row, "share")), share, 0, share);
};
