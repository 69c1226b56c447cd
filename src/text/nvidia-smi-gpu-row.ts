import { SMI_GPU_FIELDS, SMI_GPU_SUMS } from "../../schemas/maps/nvidia-smi.js";
import { isDeviceFault, parseSmiCell, type SmiMissing, smiText } from "./nvidia-smi-cell.js";
import type { SmiCsvRow } from "./nvidia-smi-csv.js";
import { parseSmiStamp } from "./nvidia-smi-stamp.js";
import { convertSmi, createSmiValues, putText, putValue, refuse, type SmiValues } from "./nvidia-smi-values.js";

/** One GPU as one row of `--query-gpu` tells it. */
export interface SmiGpuRow {
  readonly uuid: string | null;
  readonly index: string | null;
  readonly busId: string | null;
  readonly model: string | null;
  readonly driver: string | null;
  /** Local time without zone, µs on its own axis. */
  readonly stamp_us: number | null;
  /** The device is broken: nothing of the row was taken. */
  readonly fault: SmiMissing | null;
  readonly values: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<string, number>>;
}

/** A broken device shows in these cells; `[Unknown Error]` elsewhere (a default limit, say) is one missing value. */
const FAULT_FIELDS = ["uuid", "utilization.gpu", "utilization.memory", "temperature.gpu"];

const faultOf = (row: SmiCsvRow): SmiMissing | null => {
  for (const field of FAULT_FIELDS) {
    const text = row.cells[field];
    const cell = text === undefined ? null : parseSmiCell(text);
    if (cell?.kind === "missing" && isDeviceFault(cell.reason)) return cell.reason;
  }
  return null;
};

const putSums = (into: SmiValues, row: SmiCsvRow, units: ReadonlyMap<string, string | null>): void => {
  for (const sum of SMI_GPU_SUMS) {
    const parts = sum.fields.filter((f) => row.cells[f] !== undefined).map((f) => convertSmi(sum, row.cells[f]!, units.get(f) ?? null));
    const missing = parts.find((part) => typeof part === "string");
    if (missing !== undefined) refuse(into.refused, missing as string);
    else if (parts.length > 0)
      putValue(
        into,
        sum.column,
        (parts as number[]).reduce((a, b) => a + b, 0),
      );
  }
};

const putState = (into: SmiValues, text: string | undefined): void => {
  if (text === undefined) return;
  const state = /^P(\d{1,2})$/.exec(text);
  if (state) putValue(into, "pstate", Number(state[1]));
  else refuse(into.refused, parseSmiCell(text).kind === "missing" ? "not_available" : "not_a_number");
};

/** Reads one row into canonical columns. Every cell stands for itself, unless the device is broken: then no number of the row is trusted. */
export const readGpuRow = (row: SmiCsvRow): SmiGpuRow => {
  const fault = faultOf(row);
  const read = createSmiValues();
  if (fault === null) {
    const units = new Map(row.columns.map((c) => [c.field, c.unit]));
    for (const [field, map] of Object.entries(SMI_GPU_FIELDS)) {
      const text = row.cells[field];
      if (text !== undefined) putText(read, map, text, units.get(field) ?? null);
    }
    putSums(read, row, units);
    putState(read, row.cells["pstate"]);
  } else {
    refuse(read.refused, fault);
  }
  return {
    uuid: smiText(row.cells["uuid"]),
    index: smiText(row.cells["index"]),
    busId: smiText(row.cells["pci.bus_id"]),
    model: smiText(row.cells["name"]),
    driver: smiText(row.cells["kmd_version"]) ?? smiText(row.cells["driver_version"]),
    stamp_us: parseSmiStamp(row.cells["timestamp"] ?? ""),
    fault,
    ...read,
  };
};
