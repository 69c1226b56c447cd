import { asNumber } from "../exact-json.js";

/** A list of finite numbers, position by position; a position that holds none is null. Null when it is no list. */
export function numberList(value: unknown): readonly (number | null)[] | null {
  return Array.isArray(value) ? value.map(asNumber) : null;
}

/** Gaps in seconds as ms; null when it is no list, or any entry is no duration: a series with holes would shift the rest. */
export function gapsMs(seconds: unknown): Float32Array | null {
  const list = numberList(seconds);
  if (list === null) return null;
  const gaps = new Float32Array(list.length);
  for (let i = 0; i < list.length; i++) {
    const value = list[i] ?? null;
    if (value === null || value < 0) return null;
    gaps[i] = value * 1000;
  }
  return gaps;
}

/** A number that is not negative; null otherwise. */
export function positive(value: unknown): number | null {
  const number = asNumber(value);
  return number !== null && number >= 0 ? number : null;
}

/** Milliseconds of a duration in seconds. */
export const secondsMs = (value: unknown): number | null => {
  const seconds = positive(value);
  return seconds === null ? null : seconds * 1000;
};
