import { columnSpec } from "../../schemas/columns/index.js";
import type { SmiColumn } from "../../schemas/maps/nvidia-smi.js";
import { parseSmiCell } from "./nvidia-smi-cell.js";

/** Canonical gpu values, and why others are not there (`not_available`, `out_of_range`, `wrong_unit`, `not_a_number`, ...: times). */
export interface SmiValues {
  readonly values: Record<string, number>;
  readonly refused: Record<string, number>;
}

export const createSmiValues = (): SmiValues => ({ values: {}, refused: {} });

/** Counts one refusal. */
export const refuse = (into: Record<string, number>, reason: string, times = 1): void => {
  into[reason] = (into[reason] ?? 0) + times;
};

/** Adds the counts of `from` to `into`. */
export const addRefused = (into: Record<string, number>, from: Readonly<Record<string, number>>): void => {
  for (const [reason, times] of Object.entries(from)) refuse(into, reason, times);
};

/** The printed text as canonical value of `map`, or the reason why there is none. `headerUnit` stands in where the cell has no unit. */
export const convertSmi = (map: SmiColumn, text: string, headerUnit: string | null = null): number | string => {
  const cell = parseSmiCell(text);
  if (cell.kind === "missing") return cell.reason;
  if (cell.kind === "text") return "not_a_number";
  const unit = cell.unit ?? headerUnit;
  if (unit !== null && !map.units.includes(unit)) return "wrong_unit";
  return (cell.value * map.factor) / map.divisor;
};

/** Takes the value if the column's range allows it. A ratio in (1, 1.05] becomes 1; everything else outside is refused, not clamped. */
export const putValue = (into: SmiValues, column: string, value: number): void => {
  const spec = columnSpec("gpu", column);
  if (spec === undefined) return;
  if (!Number.isFinite(value) || value < (spec.min ?? -Infinity) || value > (spec.max ?? Infinity)) {
    refuse(into.refused, "out_of_range");
    return;
  }
  into.values[column] = column.endsWith("_ratio") ? Math.min(value, 1) : value;
};

/** Converts and takes one printed value; a column that already has one keeps it. True when the column holds a value afterwards. */
export const putText = (into: SmiValues, map: SmiColumn, text: string, headerUnit: string | null = null): boolean => {
  if (map.column in into.values) return true;
  const value = convertSmi(map, text, headerUnit);
  if (typeof value === "string") refuse(into.refused, value);
  else putValue(into, map.column, value);
  return map.column in into.values;
};
