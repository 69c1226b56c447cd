import { SMI_DMON_COLUMNS, SMI_GPM_METRICS, type SmiColumn } from "../../schemas/maps/nvidia-smi.js";
import { parseSmiCell } from "./nvidia-smi-cell.js";
import { classifySmiLine, isSmiNoise, type SmiProblem } from "./nvidia-smi-errors.js";
import { parseDmonStamp } from "./nvidia-smi-stamp.js";
import { createSmiValues, putText } from "./nvidia-smi-values.js";

/** One row of `nvidia-smi dmon`: one GPU, one interval. */
export interface SmiDmonRow {
  /** GPU index: dmon knows no uuid. */
  readonly index: number;
  /** Local time to the second, µs on its own axis; null without `-o T`. */
  readonly stamp_us: number | null;
  /** GPM columns: `none` = not printed, `empty` = all of them `-`, `some` = at least one number. */
  readonly gpm: "none" | "empty" | "some";
  readonly values: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<string, number>>;
}

export type SmiDmonEvent =
  | { readonly kind: "row"; readonly row: SmiDmonRow }
  | { readonly kind: "header" }
  | { readonly kind: "problem"; readonly problem: SmiProblem }
  | { readonly kind: "rejected"; readonly reason: "cell_count" | "no_header" | "no_index" }
  | { readonly kind: "blank" };

export interface SmiDmonReader {
  /** Reads one line without its newline. */
  push(line: string): SmiDmonEvent;
}

export interface DmonOptions {
  /** The ids given to `--gpm-metrics`. */
  readonly gpmIds?: readonly number[];
  /** Canonical columns to read; absent = all. */
  readonly columns?: ReadonlySet<string>;
}

interface Header {
  names: readonly string[];
  units: readonly (string | null)[];
  maps: readonly (SmiColumn | null)[];
  gpm: readonly boolean[];
}

const UNIT_LINE = /^(idx|yyyymmdd|hh:mm:ss)$/i;
const BY_HEADER = new Map(SMI_GPM_METRICS.filter((m) => m.header !== null).map((m) => [m.header!, m]));

const tokens = (line: string): string[] => {
  const text = line.trim().replace(/^#\s*/, "");
  return text.includes(",") ? text.split(",").map((t) => t.trim()) : text.split(/\s+/);
};

/** GPM columns take their meaning from their names; those without a known name from their place, if as many were printed as asked for. */
const mapColumns = (names: readonly string[], units: readonly (string | null)[], options: DmonOptions): Header => {
  const asked = options.gpmIds ?? [];
  const isGpm = names.map((name, i) => (units[i] ?? "").startsWith("GPM") || (BY_HEADER.has(name) && !(name in SMI_DMON_COLUMNS)));
  const places = isGpm.flatMap((gpm, i) => (gpm ? [i] : []));
  const byPlace = places.length === asked.length;
  const maps = names.map((name, i): SmiColumn | null => {
    const id = byPlace ? asked[places.indexOf(i)] : undefined;
    const gpm = (): SmiColumn | undefined => BY_HEADER.get(name) ?? SMI_GPM_METRICS.find((m) => m.id === id);
    const map = isGpm[i] ? gpm() : SMI_DMON_COLUMNS[name];
    return map !== undefined && (options.columns?.has(map.column) ?? true) ? map : null;
  });
  return { names, units, maps, gpm: isGpm };
};

const parseNames = (words: readonly string[], options: DmonOptions): Header => {
  const parts = words.map((word) => /^(.*?)(?:\s*\[(.+)\])?$/.exec(word)!);
  const names = parts.map((m) => m[1]!.toLowerCase());
  const units = parts.map((m) => m[2] ?? null);
  return mapColumns(names, units, options);
};

const readRow = (header: Header, cells: readonly string[]): SmiDmonEvent => {
  const at = (name: string): string | undefined => cells[header.names.indexOf(name)];
  const index = parseSmiCell(at("gpu") ?? "");
  if (index.kind !== "number") return { kind: "rejected", reason: "no_index" };
  const read = createSmiValues();
  let gpm: SmiDmonRow["gpm"] = "none";
  // GPM first: where both give a column (PCIe), the mean of the interval is better than the 20 ms sample.
  for (const wantGpm of [true, false]) {
    header.maps.forEach((map, i) => {
      if (map === null || header.gpm[i] !== wantGpm) return;
      const text = cells[i]!;
      const got = putText(read, map, text, header.units[i] ?? null);
      if (wantGpm && gpm !== "some") gpm = got || parseSmiCell(text).kind === "number" ? "some" : "empty";
    });
  }
  return { kind: "row", row: { index: index.value, stamp_us: parseDmonStamp(at("date"), at("time")), gpm, ...read } };
};

/**
 * Reads `nvidia-smi dmon` line by line, any `-s`, `-o` and driver: columns go by the header's names, headers may come again at any
 * place, short rows (cut by an interrupt) are refused. Reads the comma separated form too.
 */
export const createDmonReader = (options: DmonOptions = {}): SmiDmonReader => {
  let header: Header | null = null;
  return {
    push(line) {
      if (line.trim() === "" || isSmiNoise(line)) return { kind: "blank" };
      const problem = classifySmiLine(line);
      if (problem) return { kind: "problem", problem };
      const words = tokens(line);
      if (line.trim().startsWith("#")) {
        if (!words.some((w) => UNIT_LINE.test(w))) header = parseNames(words, options);
        else if (header !== null && words.length === header.names.length) header = mapColumns(header.names, words, options);
        return { kind: "header" };
      }
      if (header === null) return { kind: "rejected", reason: "no_header" };
      if (words.length !== header.names.length) return { kind: "rejected", reason: "cell_count" };
      return readRow(header, words);
    },
  };
};
