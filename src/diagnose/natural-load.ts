import { integralOver, type StepFunction, sumOfBoxes } from "../core/step-function.js";
import type { Detection } from "./detector.js";
import type { GroupRequests } from "./group-requests.js";
import type { Incident } from "./incidents.js";

/** What the arrivals alone would make requests wait for, if every prompt took its usual time: one prompt after another. */
export interface NaturalLoad {
  /** Wait for the prompts that came before, ms a request. */
  readonly wait: Float64Array;
  /** 1 while a prompt would be computed. */
  readonly busy: StepFunction;
  /** Share of the run in which one would be. */
  readonly usualBusy: number;
  /** Running sums of the requests' work and of its square, ms; n + 1 values. */
  readonly work: Float64Array;
  readonly square: Float64Array;
  /** What a request usually takes, ms. */
  readonly usual_ms: number;
}

/** `usual_ms`: what a request takes; `work`: predicted time of each prompt's own tokens, ms. Lindley's recursion over the order of arrival; O(n log n). */
export const naturalLoad = (q: GroupRequests, work: Float64Array, usual_ms: number): NaturalLoad => {
  const wait = new Float64Array(q.n);
  const from = new Float64Array(q.n);
  const to = new Float64Array(q.n);
  const sum = new Float64Array(q.n + 1);
  const square = new Float64Array(q.n + 1);
  let free = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < q.n; i++) {
    const length = work[i]! * 1000;
    from[i] = Math.max(q.arrival[i]!, free);
    to[i] = from[i]! + length;
    free = to[i]!;
    wait[i] = (from[i]! - q.arrival[i]!) / 1000;
    sum[i + 1] = sum[i]! + work[i]!;
    square[i + 1] = square[i]! + work[i]! ** 2;
  }
  const busy = sumOfBoxes(from, to, null);
  const last = busy.at.length - 1;
  const span = last > 0 ? busy.at[last]! - busy.at[0]! : 0;
  return { wait, busy, usualBusy: span > 0 ? Math.min(1, busy.integral[last]! / span) : 0, work: sum, square, usual_ms };
};

/** Share of an incident's lost time that the arrivals alone explain: waits behind earlier prompts, decodes beside prompts. */
export const explainedByLoad = (incident: Incident, q: GroupRequests, load: NaturalLoad): number => {
  let lost = 0;
  let explained = 0;
  for (const loss of incident.losses) {
    const ms = ((loss.to - loss.from) / 1000) * loss.rate;
    const i = loss.row;
    lost += ms;
    if (loss.part === "first_token") explained += Math.min(ms, load.wait[i]!);
    else {
      const decode = q.end[i]! - q.first[i]!;
      const shared = (integralOver(load.busy, q.first[i]!, q.end[i]!) - load.usualBusy * decode) / 1000;
      explained += Math.min(ms, Math.max(0, shared));
    }
  }
  return lost > 0 ? explained / lost : 0;
};

/**
 * By how many standard deviations the work that arrived while the incident was fed exceeds what independent arrivals at the run's usual
 * rate bring (compound Poisson); infinite where nothing is usual.
 */
export const surgeSigmas = (incident: Incident, q: GroupRequests, load: NaturalLoad): number => {
  if (incident.rows.length === 0) return Number.POSITIVE_INFINITY;
  const first = incident.rows[0]!;
  const last = incident.rows[incident.rows.length - 1]!;
  const inside = load.work[last + 1]! - load.work[first]!;
  const mean = load.work[q.n]! - inside;
  const square = load.square[q.n]! - (load.square[last + 1]! - load.square[first]!);
  const window = q.arrival[last]! - q.arrival[first]!;
  const outside = q.arrival[q.n - 1]! - q.arrival[0]! - window;
  if (!(outside > 0) || !(square > 0)) return Number.POSITIVE_INFINITY;
  const length = Math.max(window, outside / q.n);
  return (inside - (mean / outside) * length) / Math.sqrt((square / outside) * length);
};

/**
 * How a busy server always is: the arrivals explain most of an incident's lost time, it is small beside what a request takes, and no more
 * work came than chance brings. The smaller it is, the less has to be explained.
 */
const SURGE_SIGMAS = 8;
const NATURAL = [
  { excess: 0.15, explained: 0.3 },
  { excess: 0.4, explained: 0.5 },
] as const;

/** True when requests only met each other, as they do all along at this load: slow, but no incident. A broken limit always is one. */
export const isNatural = (incident: Incident, q: GroupRequests, load: NaturalLoad | null, detection: Detection): boolean => {
  if (load === null || incident.rows.some((r) => detection.metrics.some((m) => m.violation[r] === 1))) return false;
  const excess = incident.excess_ms / incident.rows.length / load.usual_ms;
  if (!NATURAL.some((n) => excess < n.excess) || surgeSigmas(incident, q, load) >= SURGE_SIGMAS) return false;
  const explained = explainedByLoad(incident, q, load);
  return NATURAL.some((n) => excess < n.excess && explained >= n.explained);
};
