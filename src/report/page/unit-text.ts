import type { LaneUnit } from "../html/page-data.js";
import { count, reading } from "../number-text.js";

/** A reading of a lane for people, with its unit. */
export function unitText(value: number, unit: LaneUnit): string {
  switch (unit) {
    case "ratio":
      return `${trim((value * 100).toFixed(Math.abs(value) < 0.01 ? 2 : Math.abs(value) < 0.1 ? 1 : 0))}%`;
    case "count":
      return value < 10 && value !== Math.round(value) ? trim(value.toFixed(1)) : count(value);
    case "w":
      return `${Math.round(value)} W`;
    case "mhz":
      return `${Math.round(value)} MHz`;
    case "cores":
      return trim(value.toFixed(2));
    case "per_s":
      return `${reading(value)}/s`;
    case "bytes_per_s":
      return `${bytes(value)}/s`;
  }
}

function bytes(value: number): string {
  for (const [size, name] of [
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ] as const) {
    if (Math.abs(value) >= size) return `${trim((value / size).toFixed(1))} ${name}`;
  }
  return `${Math.round(value)} B`;
}

const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
