import { lastAtOrBefore, type StepFunction, stepFunction, sumOfBoxes, valueAt } from "../core/step-function.js";
import { decodeProfile } from "./decode-profile.js";
import type { Detection } from "./detector.js";
import type { GroupRequests } from "./group-requests.js";
import type { Loss } from "./losses.js";

/** Lost time after the number of overdue requests last stood near its peak counts this much: a queue that drains is no cause. */
const TAIL_WEIGHT = 0.2;
const NEAR_PEAK = 0.9;
/** Slow decodes that are needed to place them in time together. */
const PROFILE_ROWS = 5;
/** Less than this share of the peak is no part of the incident's window. */
const SUPPORT_SHARE = 0.1;

/** Time lost per unit of time, summed over losses. */
export const lossCurve = (losses: readonly Loss[]): StepFunction =>
  sumOfBoxes(
    losses.map((l) => l.from),
    losses.map((l) => l.to),
    losses.map((l) => l.rate),
  );

/**
 * Weight and support of the losses of one incident: see TAIL_WEIGHT. Slow decodes are placed by what all requests of the time say together.
 */
export const rootWeight = (
  losses: readonly Loss[],
  q: GroupRequests,
  detection: Detection,
): { weight: StepFunction; support: StepFunction } => {
  const decodes = losses.filter((l) => l.part === "decode");
  let curve = lossCurve(losses);
  if (decodes.length >= PROFILE_ROWS) {
    const from = decodes.reduce((a, l) => Math.min(a, l.from), Number.POSITIVE_INFINITY);
    const to = decodes.reduce((a, l) => Math.max(a, l.to), Number.NEGATIVE_INFINITY);
    const profile = decodeProfile(q, detection, from, to);
    const lost = decodes.reduce((a, l) => a + (l.to - l.from) * l.rate, 0);
    const whole = profile.integral[profile.at.length - 1]!;
    if (whole > 0) curve = addScaled(lossCurve(losses.filter((l) => l.part !== "decode")), profile, lost / whole);
  }
  let peak = 0;
  for (const v of curve.value) peak = Math.max(peak, v);
  let tail = -1;
  for (let i = 0; i < curve.at.length; i++) if (curve.value[i]! >= NEAR_PEAK * peak) tail = i + 1;
  const value = curve.value.map((v, i) => Math.max(0, i >= tail && tail >= 0 ? v * TAIL_WEIGHT : v));
  const support = curve.value.map((v) => (v > SUPPORT_SHARE * peak ? 1 : 0));
  return { weight: stepFunction(curve.at, value), support: stepFunction(curve.at, support) };
};

/** a + by x b, on the breaks of both. */
const addScaled = (a: StepFunction, b: StepFunction, by: number): StepFunction => {
  const at = Float64Array.from([...new Set([...a.at, ...b.at])]).sort();
  return stepFunction(
    at,
    at.map((t) => valueAt(a, t) + by * valueAt(b, t)),
  );
};

/** First and last moment of the support. */
export const extent = (support: StepFunction): { from: number; to: number } => {
  let first = support.value.findIndex((v) => v > 0);
  let last = support.value.length - 1;
  while (last > 0 && support.value[last - 1] === 0) last--;
  if (first < 0) first = 0;
  return { from: support.at[first]!, to: support.at[last]! };
};

/** Share of the weight before `t`. */
export const weightBefore = (f: StepFunction, t: number): number => {
  const last = f.at.length - 1;
  const i = lastAtOrBefore(f.at, t);
  if (i < 0 || last < 1) return 0;
  return Math.min(1, (f.integral[i]! + f.value[i]! * (t - f.at[i]!)) / f.integral[last]!);
};
