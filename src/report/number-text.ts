import { formatDurationMs } from "../time/duration.js";

/** `1,234,567`, the same in every locale. */
export const count = (n: number): string => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

export const percent = (share: number): string => (share > 0 && share < 0.01 ? "<1%" : `${Math.round(share * 100)}%`);

export const milliseconds = (ms: number | null): string => (ms === null ? "-" : formatDurationMs(ms));

/** A reading of unknown unit: three significant digits, thousands with an SI letter. */
export function reading(value: number | null): string {
  if (value === null) return "-";
  const v = Math.abs(value);
  if (v !== 0 && v < 0.001) return value.toExponential(1);
  if (v < 10) return trim(value.toFixed(v < 1 ? 3 : 2));
  if (v < 10_000) return trim(value.toFixed(v < 100 ? 1 : 0));
  for (const [size, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (v >= size) return `${trim((value / size).toFixed(1))}${letter}`;
  }
  return String(value);
}

export const nats = (weight: number): string => `${weight < 0 ? "-" : "+"}${Math.abs(weight).toFixed(2)}`;

const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** The first names of a list, and how many more there are. */
export const someOf = (names: readonly string[], most: number): string =>
  names.length <= most + 1 ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
