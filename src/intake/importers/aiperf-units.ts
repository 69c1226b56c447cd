import { asNumber, asObject } from "../exact-json.js";

const NOT_FINITE = /^[+-]?(?:nan|inf(?:inity)?)$/i;

/** A number, NaN for one that is not finite however it is written, so that it is counted; null for what is no number. */
function reading(value: unknown): number | null {
  if (typeof value === "number" && !Number.isFinite(value)) return Number.NaN;
  if (typeof value === "string" && NOT_FINITE.test(value.trim())) return Number.NaN;
  return asNumber(value);
}

const MS_PER: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  sec: 1000,
  seconds: 1000,
  milliseconds: 1,
};

/** The factor that brings a duration in AIPerf's `unit` to ms; null for a unit that is no time. */
export function msFactor(unit: unknown): number | null {
  return typeof unit === "string" ? (MS_PER[unit.trim()] ?? MS_PER[unit.trim().toLowerCase()] ?? null) : null;
}

/** The first of the tags that is there, `{ value, unit }`, as ms, NaN where not finite; null when absent or in no unit of time. */
export function metricMs(metrics: Readonly<Record<string, unknown>>, ...tags: readonly string[]): number | null {
  for (const tag of tags) {
    const metric = asObject(metrics[tag]);
    if (!metric) continue;
    const value = reading(metric.value);
    const factor = msFactor(metric.unit);
    if (value !== null && factor !== null) return value * factor;
  }
  return null;
}

/** A list-valued duration as ms; null when it is absent, or any entry is no number: a series with holes would shift the rest. */
export function metricListMs(metrics: Readonly<Record<string, unknown>>, tag: string): Float32Array | null {
  const metric = asObject(metrics[tag]);
  const factor = msFactor(metric?.unit);
  const list = metric?.value;
  if (factor === null || !Array.isArray(list)) return null;
  const gaps = new Float32Array(list.length);
  for (let i = 0; i < list.length; i++) {
    const value = reading(list[i]);
    if (value === null) return null;
    gaps[i] = value * factor;
  }
  return gaps;
}

/** A count of tokens, NaN where not finite; null when absent. */
export function metricTokens(metrics: Readonly<Record<string, unknown>>, ...tags: readonly string[]): number | null {
  for (const tag of tags) {
    const value = reading(asObject(metrics[tag])?.value);
    if (value !== null) return value;
  }
  return null;
}
