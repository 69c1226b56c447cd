import { SMI_FIELD_ALIASES } from "../../schemas/maps/nvidia-smi.js";
import { classifySmiLine, isSmiNoise, type SmiProblem } from "./nvidia-smi-errors.js";

export interface SmiCsvColumn {
  /** Canonical field name, e.g. `utilization.gpu`. */
  readonly field: string;
  /** Unit of the header (`%`, `MiB`), which stays there under `nounits`; null when there is none. */
  readonly unit: string | null;
}

/** One row by canonical field name; the texts are trimmed but otherwise as printed. */
export interface SmiCsvRow {
  readonly columns: readonly SmiCsvColumn[];
  readonly cells: Readonly<Record<string, string>>;
}

export type SmiCsvEvent =
  | { readonly kind: "row"; readonly row: SmiCsvRow }
  | { readonly kind: "header" }
  | { readonly kind: "problem"; readonly problem: SmiProblem }
  | { readonly kind: "rejected"; readonly reason: "cell_count" | "no_header" | "not_a_row" }
  | { readonly kind: "blank" };

export interface SmiCsvReader {
  /** Reads one line without its newline. */
  push(line: string): SmiCsvEvent;
}

const BLANK: SmiCsvEvent = { kind: "blank" };
const HEADER_CELL = /^([A-Za-z][\w.]*)(?: \[([^\]]+)\])?$/;

/** Fields that make a line of bare words a header: every query of ours and of the samples has at least one of them. */
const TELLING = /^(timestamp|index|uuid|name|pci\.bus_id|pid|gpu_uuid|(utilization|memory|temperature|power|clocks|pcie)\..+)$/;

const canonical = (name: string): string => SMI_FIELD_ALIASES[name] ?? name;

const parseHeader = (cells: readonly string[]): readonly SmiCsvColumn[] | null => {
  const columns: SmiCsvColumn[] = [];
  for (const cell of cells) {
    const match = HEADER_CELL.exec(cell);
    if (!match) return null;
    columns.push({ field: canonical(match[1]!), unit: match[2] ?? null });
  }
  return columns.some((c) => TELLING.test(c.field)) ? columns : null;
};

/** A row with more cells than the header has a comma in its free text: what is too much goes back into that cell. */
const rejoin = (cells: readonly string[], columns: readonly SmiCsvColumn[], freeText: string | undefined): readonly string[] => {
  const at = columns.findIndex((c) => c.field === freeText);
  const extra = cells.length - columns.length;
  if (freeText === undefined || at < 0 || extra <= 0) return cells;
  return [...cells.slice(0, at), cells.slice(at, at + extra + 1).join(", "), ...cells.slice(at + extra + 1)];
};

/**
 * Reads the output of `--query-gpu=... --format=csv` or `--query-compute-apps=...` line by line. Cells are split at a comma and
 * blanks (nothing is quoted); columns go by name, a repeated header is taken again, messages between rows do not end the table.
 * Without a header, pass the names in the order asked (`fields`). `freeText` names a column that may contain commas.
 */
export const createSmiCsvReader = (options: { fields?: readonly string[]; freeText?: string } = {}): SmiCsvReader => {
  let columns: readonly SmiCsvColumn[] | null = options.fields?.map((f) => ({ field: canonical(f), unit: null })) ?? null;
  return {
    push(line) {
      if (line.trim() === "" || isSmiNoise(line)) return BLANK;
      const problem = classifySmiLine(line);
      if (problem) return { kind: "problem", problem };
      const raw = line.split(/,\s*/).map((cell) => cell.trim());
      const header = parseHeader(raw);
      if (header) {
        columns = header;
        return { kind: "header" };
      }
      if (columns === null) return { kind: "rejected", reason: "no_header" };
      const cells = rejoin(raw, columns, options.freeText);
      if (cells.length !== columns.length) return { kind: "rejected", reason: cells.length === 1 ? "not_a_row" : "cell_count" };
      return { kind: "row", row: { columns, cells: Object.fromEntries(columns.map((c, i) => [c.field, cells[i]!])) } };
    },
  };
};
