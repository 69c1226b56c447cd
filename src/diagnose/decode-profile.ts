import { type StepFunction, stepFunction } from "../core/step-function.js";
import type { Detection } from "./detector.js";
import { type GroupRequests, rowsNear } from "./group-requests.js";

const MAX_BINS = 400;
const BIN_US = 250e3;
const ROUNDS = 12;

/**
 * When decode was slow, from requests whose stamps tell only their total: each request's excess is the integral of a common profile over
 * its decode. Solved by multiplicative updates (Richardson-Lucy): requests that were undisturbed hold the profile down where they ran.
 * Value: ms of excess per ms of decode; 0 outside of [from, to). O(rows x rounds).
 */
export const decodeProfile = (q: GroupRequests, detection: Detection, from: number, to: number): StepFunction => {
  const bins = Math.min(MAX_BINS, Math.max(4, Math.ceil((to - from) / BIN_US)));
  const width = (to - from) / bins;
  const ttft = detection.metrics.find((m) => m.metric === "ttft")!;
  const e2e = detection.metrics.find((m) => m.metric === "e2e")!;
  const start: number[] = [];
  const end: number[] = [];
  const excess: number[] = [];
  const [near, after] = rowsNear(q, from, to);
  for (let i = near; i < after; i++) {
    if (!(q.first[i]! < to) || !(q.end[i]! > from) || q.usable[i] !== 1) continue;
    const decode = q.end[i]! - q.first[i]!;
    const inside = Math.min(q.end[i]!, to) - Math.max(q.first[i]!, from);
    if (!(decode > 0) || inside < 0.5 * decode) continue;
    const lost = q.e2e[i]! - q.ttft[i]! - Math.max(0, e2e.expected[i]! - ttft.expected[i]!);
    if (!Number.isFinite(lost)) continue;
    start.push((Math.max(q.first[i]!, from) - from) / width);
    end.push((Math.min(q.end[i]!, to) - from) / width);
    excess.push(Math.max(0, (lost * 1000) / width));
  }
  const rate = new Float64Array(bins).fill(0.5);
  const cover = spread(start, end, null, bins);
  const sums = new Float64Array(bins + 1);
  const ratio = new Float64Array(start.length);
  for (let round = 0; round < ROUNDS; round++) {
    for (let b = 0; b < bins; b++) sums[b + 1] = sums[b]! + rate[b]!;
    for (let k = 0; k < start.length; k++) ratio[k] = excess[k]! / Math.max(1e-9, upTo(sums, rate, end[k]!) - upTo(sums, rate, start[k]!));
    const back = spread(start, end, ratio, bins);
    for (let b = 0; b < bins; b++) rate[b] = cover[b]! > 1e-9 ? (rate[b]! * back[b]!) / cover[b]! : 0;
  }
  const at = Float64Array.from({ length: bins + 1 }, (_, b) => from + b * width);
  const value = new Float64Array(bins + 1);
  value.set(rate);
  return stepFunction(at, value);
};

/** Integral of the binned rate up to a position in bins. */
const upTo = (sums: Float64Array, rate: Float64Array, x: number): number => {
  const b = Math.min(rate.length - 1, Math.floor(x));
  return sums[b]! + rate[b]! * (x - b);
};

/** Sum of weighted boxes per bin, by differences: O(boxes + bins). */
const spread = (start: readonly number[], end: readonly number[], weight: Float64Array | null, bins: number): Float64Array => {
  const edge = new Float64Array(bins + 2);
  const out = new Float64Array(bins);
  const ramp = (x: number, w: number) => {
    // From position x on, every bin gets w; the bin that holds x gets the part behind it.
    const b = Math.min(bins, Math.floor(x));
    const part = x - b;
    edge[b] = edge[b]! + w * (1 - part);
    edge[b + 1] = edge[b + 1]! + w * part;
  };
  for (let k = 0; k < start.length; k++) {
    const w = weight === null ? 1 : weight[k]!;
    ramp(start[k]!, w);
    ramp(end[k]!, -w);
  }
  let level = 0;
  for (let b = 0; b < bins; b++) {
    level += edge[b]!;
    out[b] = Math.max(0, level);
  }
  return out;
};
