import type { Track } from "../../schemas/index.js";
import { integralOver, lastAtOrBefore, type StepFunction, valueAt } from "../core/step-function.js";
import type { GroupRequests } from "./group-requests.js";
import type { TraceLoad } from "./trace-load.js";

/** Where requests without a first token were, by the server's own gauges. Shares of the pending time; they sum to 1. */
export interface PendingSplit {
  readonly ingress: number;
  readonly queue: number;
  readonly prefill: number;
  /** Gauge readings that were used, and the share of the weight that they cover. */
  readonly readings: number;
  readonly coverage: number;
}

/** When each request's prefill should have been running: its arrival, the predicted start and its first token. */
export interface RunningSteps {
  readonly q: GroupRequests;
  readonly from: Float64Array;
}

/** Requests before `t` that can still be without a first token. */
const SEARCH_BACK = 1000;

/**
 * Requests that arrived while the running prefill step kept the scheduler from seeing them: they wait for the step, not in front of the
 * server. Bounded by the step: only arrivals after its start count.
 */
const waitForStep = ({ q, from }: RunningSteps, t: number): number => {
  const last = lastAtOrBefore(q.arrival, t);
  let started = Number.POSITIVE_INFINITY;
  for (let i = last; i >= 0 && i > last - SEARCH_BACK; i--) if (q.first[i]! > t && from[i]! <= t) started = Math.min(started, from[i]!);
  if (started === Number.POSITIVE_INFINITY) return 0;
  let count = 0;
  for (let i = last; i >= 0 && q.arrival[i]! >= started; i--) if (q.first[i]! > t && from[i]! > t) count++;
  // The request in prefill itself may be unknown to a gauge that was set before the step.
  return count + 1;
};

/** Half the time that one reading of a gauge may speak for, µs. */
const reach = (track: Track): number => {
  const n = track.ts_us.length;
  return n > 1 ? (track.ts_us[n - 1]! - track.ts_us[0]!) / (n - 1) / 2 : 500_000;
};

/**
 * Splits the wait for the first token at the times of the gauges: of p requests without a first token, `waiting` are queued,
 * `running - decoding` are in prefill, and what the server does not know about has not reached its scheduler yet (ingress:
 * network, HTTP, tokenization). Null without gauges inside of the weight. `traceShare`: part of the server's requests that the trace holds.
 */
export const splitPending = (
  servers: readonly Track[],
  load: TraceLoad,
  weight: StepFunction,
  lag_us: (track: Track) => number,
  steps: RunningSteps | null,
  traceShare = 1,
): PendingSplit | null => {
  let ingress = 0;
  let queue = 0;
  let prefill = 0;
  let total = 0;
  let readings = 0;
  const main = servers.filter((t) => t.columns.running !== undefined && t.columns.waiting !== undefined);
  const lead = main[0];
  if (lead === undefined || weight.at.length < 2) return null;
  const start = weight.at[0]!;
  const end = weight.at[weight.at.length - 1]!;
  const half = reach(lead);
  const lag = lag_us(lead);
  for (let i = Math.max(0, lastAtOrBefore(lead.ts_us, start + lag)); i < lead.ts_us.length; i++) {
    const t = lead.ts_us[i]! - lag;
    if (t > end + half) break;
    const w = integralOver(weight, t - half, t + half);
    const running = sumAt(main, "running", lead, i);
    const waiting = sumAt(main, "waiting", lead, i);
    const p = valueAt(load.pending, t) / traceShare;
    if (!(w > 0) || p <= 0 || Number.isNaN(running) || Number.isNaN(waiting)) continue;
    const queued = Math.min(p, waiting);
    const known = Math.min(p, waiting + Math.max(0, running - valueAt(load.decoding, t) / traceShare));
    const step = steps === null ? 0 : Math.min(p - known, waitForStep(steps, t));
    queue += (w * (queued + step)) / p;
    prefill += (w * (known - queued)) / p;
    ingress += (w * (p - known - step)) / p;
    total += w;
    readings++;
  }
  const whole = weight.integral[weight.at.length - 1]!;
  if (!(total > 0)) return null;
  return { ingress: ingress / total, queue: queue / total, prefill: prefill / total, readings, coverage: Math.min(1, total / whole) };
};

/** Sum over the engines of one server; the others are read at or before the lead's stamp. */
const sumAt = (tracks: readonly Track[], column: string, lead: Track, i: number): number => {
  let sum = 0;
  for (const t of tracks) {
    const k = t === lead ? i : lastAtOrBefore(t.ts_us, lead.ts_us[i]!);
    const v = k < 0 ? Number.NaN : (t.columns[column]?.[k] ?? Number.NaN);
    sum += v;
  }
  return sum;
};
