import { quantile } from "../../src/core/quantile.js";
import type { Mark, Series } from "./read-recording.js";

export interface Level {
  readonly n: number;
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
}

/** Trailing averages of a second still hold the time before the load. */
const SETTLE_US = 1_300_000;
/** A row of dmon is the mean of the second before it. */
const DMON_WINDOW_US = 1_000_000;

/** Levels of a column while a load ran; null without a reading that belongs to it alone. */
export function levelOf(series: Series, mark: Mark): Level | null {
  const settle = Math.min(SETTLE_US, (mark.end_us - mark.start_us) / 2);
  const from = mark.start_us + (series.tool === "dmon" ? Math.min(DMON_WINDOW_US + 100_000, mark.end_us - mark.start_us) : settle);
  const values = series.value.filter((_, i) => series.ts_us[i]! >= from && series.ts_us[i]! <= mark.end_us);
  if (values.length === 0) return null;
  return { n: values.length, p10: quantile(values, 0.1), p50: quantile(values, 0.5), p90: quantile(values, 0.9) };
}

/** Column, tool, heading, factor and digits of what the table shows. */
const SHOWN: readonly (readonly [Series["tool"], string, string, number, number])[] = [
  ["query", "gpu_util_ratio", "util %", 100, 0],
  ["query", "mem_util_ratio", "mem util %", 100, 0],
  ["query", "power_w", "power W", 1, 0],
  ["query", "power_instant_w", "instant W", 1, 0],
  ["query", "sm_clock_mhz", "SM MHz", 1, 0],
  ["dmon", "gr_engine_active_ratio", "GR %", 100, 0],
  ["dmon", "sm_active_ratio", "SM %", 100, 0],
  ["dmon", "sm_occupancy_ratio", "occupancy %", 100, 0],
  ["dmon", "tensor_active_ratio", "tensor %", 100, 0],
  ["dmon", "dram_active_ratio", "DRAM %", 100, 0],
  ["dmon", "pcie_rx_bytes_per_s", "PCIe rx GB/s", 1e-9, 1],
  ["dmon", "pcie_tx_bytes_per_s", "PCIe tx GB/s", 1e-9, 1],
];

const cellText = (level: Level | null, factor: number, digits: number): string => {
  if (level === null) return "-";
  const text = (value: number): string => (value * factor).toFixed(digits);
  const whole = text(level.p50);
  return text(level.p10) === whole && text(level.p90) === whole ? whole : `${whole} (${text(level.p10)}-${text(level.p90)})`;
};

const achievedText = (mark: Mark): string => {
  if (mark.achieved === undefined || mark.achieved === null) return "";
  const [value, unit] =
    mark.achieved >= 1e12 ? [mark.achieved / 1e12, "T"] : mark.achieved >= 1e9 ? [mark.achieved / 1e9, "G"] : [mark.achieved, ""];
  return `${value.toFixed(value >= 100 ? 0 : 1)} ${unit}${mark.unit ?? ""}`;
};

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Markdown: one line a load, median and in parentheses the 10th to 90th percentile. */
export function levelsTable(marks: readonly Mark[], series: readonly Series[]): string {
  const shown = SHOWN.flatMap(([tool, column, heading, factor, digits]) => {
    const found = series.find((s) => s.tool === tool && s.column === column);
    return found ? [{ found, heading, factor, digits }] : [];
  });
  const head = ["load", "reached", ...shown.map((s) => s.heading)];
  const lines = marks
    .filter((m) => m.kind === "regime")
    .map((mark) => [
      mark.ran ? mark.name : `${mark.name} (did not run)`,
      achievedText(mark),
      ...shown.map(({ found, factor, digits }) => cellText(levelOf(found, mark), factor, digits)),
    ]);
  return [row(head), row(head.map(() => "---")), ...lines.map(row)].join("\n");
}
