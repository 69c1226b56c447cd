import fs from "node:fs";
import { createSmiCsvReader } from "../../src/text/nvidia-smi-csv.js";
import { createDmonReader } from "../../src/text/nvidia-smi-dmon.js";
import { readGpuRow } from "../../src/text/nvidia-smi-gpu-row.js";

/** One column of one tool, in order of time. */
export interface Series {
  readonly tool: "query" | "dmon" | "nvml";
  readonly column: string;
  readonly ts_us: number[];
  readonly value: number[];
}

export interface Mark {
  readonly kind: "regime" | "step";
  readonly name: string;
  readonly text?: string;
  readonly start_us: number;
  readonly end_us: number;
  /** False when the load was a pause, because there was no GPU. */
  readonly ran: boolean;
  readonly achieved?: number | null;
  readonly unit?: string | null;
  readonly how?: string | null;
  readonly bytes?: number;
}

type Readings = { ts_us: number; values: Readonly<Record<string, number>> }[];

/** Lines as the recorder keeps them: Unix µs of arrival, tab, text. A line without a time is left out. */
function stampedLines(text: string): { arrived_us: number; line: string }[] {
  return text.split("\n").flatMap((raw) => {
    const match = /^(\d{15,17})\t(.*)$/.exec(raw.replace(/\r$/, ""));
    return match ? [{ arrived_us: Number(match[1]), line: match[2]! }] : [];
  });
}

/**
 * `--query-gpu`. A row's time is its own stamp, moved by the least delay seen between stamp and arrival: the stamp has no zone, and rows
 * may arrive in bursts. Rows without a stamp keep their arrival.
 */
function queryReadings(text: string): Readings {
  const reader = createSmiCsvReader();
  const rows = stampedLines(text).flatMap(({ arrived_us, line }) => {
    const event = reader.push(line);
    if (event.kind !== "row") return [];
    const row = readGpuRow(event.row);
    return row.index === "0" || row.index === null ? [{ arrived_us, stamp_us: row.stamp_us, values: row.values }] : [];
  });
  const offset = rows.reduce((least, r) => (r.stamp_us === null ? least : Math.min(least, r.arrived_us - r.stamp_us)), Infinity);
  return rows.map((r) => ({ ts_us: r.stamp_us === null ? r.arrived_us : r.stamp_us + offset, values: r.values }));
}

/** dmon's stamps are whole seconds, so arrival counts. */
function dmonReadings(text: string): Readings {
  const reader = createDmonReader();
  return stampedLines(text).flatMap(({ arrived_us, line }) => {
    const event = reader.push(line);
    return event.kind === "row" && event.row.index === 0 ? [{ ts_us: arrived_us, values: event.row.values }] : [];
  });
}

function toSeries(tool: Series["tool"], readings: Readings): Series[] {
  const byColumn = new Map<string, Series>();
  for (const { ts_us, values } of readings) {
    for (const [column, value] of Object.entries(values)) {
      let series = byColumn.get(column);
      if (!series) {
        series = { tool, column, ts_us: [], value: [] };
        byColumn.set(column, series);
      }
      series.ts_us.push(ts_us);
      series.value.push(value);
    }
  }
  return [...byColumn.values()];
}

const jsonLines = (text: string): unknown[] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as unknown);

const orEmpty = (file: string): string => (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "");

/** What a run of the kit left in `folder`: `levels.jsonl`, and `raw/query.tsv`, `raw/dmon.tsv`, `raw/nvml.jsonl` as far as they are there. */
export function readRecording(folder: string): { readonly marks: readonly Mark[]; readonly series: readonly Series[] } {
  const marks = jsonLines(orEmpty(`${folder}/levels.jsonl`)) as Mark[];
  const nvml = (jsonLines(orEmpty(`${folder}/raw/nvml.jsonl`)) as [number, string, number][]).map(([ts_us, name, value]) => ({
    ts_us,
    values: { [name]: value },
  }));
  const series = [
    ...toSeries("query", queryReadings(orEmpty(`${folder}/raw/query.tsv`))),
    ...toSeries("dmon", dmonReadings(orEmpty(`${folder}/raw/dmon.tsv`))),
    ...toSeries("nvml", nvml),
  ];
  return { marks, series };
}
