import fs from "node:fs";
import { levelOf, levelsTable } from "./level-table.js";
import { type Mark, readRecording, type Series } from "./read-recording.js";
import { edgesOf, intervalMs, refreshMs, stepResponse } from "./step-response.js";

export interface ColumnTiming {
  readonly tool: Series["tool"];
  readonly column: string;
  readonly readings: number;
  readonly interval_ms: number | null;
  readonly refresh_ms: number | null;
  readonly lag_ms: number | null;
  readonly window_ms: number | null;
  readonly edges: number;
}

const round = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Math.round(value * 10) / 10;

/** Refresh interval, lag and averaging window of every column. */
export function columnTimings(marks: readonly Mark[], series: readonly Series[]): ColumnTiming[] {
  const ran = marks.filter((m) => m.ran);
  const edges = edgesOf(marks);
  return series.map((one) => {
    // NVML's probe keeps changes alone: a level between two of them has no reading, so its steps cannot be read.
    const response = one.tool === "nvml" ? null : stepResponse(one, edges);
    return {
      tool: one.tool,
      column: one.column,
      readings: one.ts_us.length,
      interval_ms: one.tool === "nvml" ? null : round(intervalMs(one)),
      refresh_ms: round(refreshMs(one, ran)),
      lag_ms: round(response?.lag_ms),
      window_ms: round(response?.window_ms),
      edges: response?.edges ?? 0,
    };
  });
}

const text = (value: number | null): string => (value === null ? "-" : String(Math.round(value)));

function timingTable(timings: readonly ColumnTiming[]): string {
  const head = ["tool", "column", "readings", "interval ms", "changes every ms", "lag ms", "window ms", "steps"];
  const rows = timings
    .filter((t) => t.refresh_ms !== null || t.lag_ms !== null)
    .map((t) => [
      t.tool,
      t.column,
      String(t.readings),
      text(t.interval_ms),
      text(t.refresh_ms),
      text(t.lag_ms),
      text(t.window_ms),
      String(t.edges),
    ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Reads what the kit recorded in `folder`, writes `levels.md` and `raw/levels.json` there, and gives what the manifest keeps. */
export function analyse(folder: string): { readonly marks: number; readonly ran: number; readonly timings: readonly ColumnTiming[] } {
  const { marks, series } = readRecording(folder);
  const timings = columnTimings(marks, series);
  const ran = marks.filter((m) => m.ran && m.name !== "idle").length;
  const levels = marks
    .filter((m) => m.kind === "regime")
    .map((mark) => ({
      ...mark,
      levels: Object.fromEntries(series.flatMap((s) => (s.tool === "nvml" ? [] : [[`${s.tool}:${s.column}`, levelOf(s, mark)]]))),
    }));
  fs.writeFileSync(`${folder}/raw/levels.json`, `${JSON.stringify({ timings, levels }, null, 1)}\n`);
  const note =
    ran > 0 ? "" : "**No load ran: there was no GPU. These are the levels of a simulated node, and say nothing about hardware.**\n\n";
  const parts = [
    "# Levels of known loads",
    "",
    `${note}${levelsTable(marks, series)}`,
    "",
    "# Timing of the readings",
    "",
    timingTable(timings),
    "",
  ];
  fs.writeFileSync(`${folder}/levels.md`, parts.join("\n"));
  return { marks: marks.length, ran, timings: timings.filter((t) => t.lag_ms !== null || t.refresh_ms !== null) };
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${JSON.stringify(analyse(process.argv[2] ?? "."))}\n`);
