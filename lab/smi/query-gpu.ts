import { SMI_FIELDS, type SmiField, type SmiGpu, smiField } from "./query-fields.js";

export interface CsvFormat {
  readonly header: boolean;
  readonly units: boolean;
}

/** `csv[,noheader][,nounits]`; null when it is something else. */
export function csvFormat(text: string): CsvFormat | null {
  const parts = text.split(",");
  return parts[0] === "csv" ? { header: !parts.includes("noheader"), units: !parts.includes("nounits") } : null;
}

/** The fields of a query, or the complaint about the first unknown one. */
export function queriedFields(list: string): readonly SmiField[] | string {
  const fields: SmiField[] = [];
  for (const name of list.split(",").map((n) => n.trim())) {
    const field = smiField(name);
    if (!field) return `Field "${name}" is not a valid field to query.\n\n`;
    fields.push(field);
  }
  return fields;
}

export const csvHeader = (fields: readonly SmiField[]): string =>
  `${fields.map((f) => (f.unit ? `${f.name} [${f.unit}]` : f.name)).join(", ")}\n`;

export function csvRows(fields: readonly SmiField[], gpus: readonly SmiGpu[], format: CsvFormat): string {
  const cell = (f: SmiField, gpu: SmiGpu): string => (format.units && f.unit ? `${f.text(gpu)} ${f.unit}` : f.text(gpu));
  return gpus.map((gpu) => `${fields.map((f) => cell(f, gpu)).join(", ")}\n`).join("");
}

/** `--help-query-gpu`. */
export function fieldList(): string {
  const lines = ['List of valid properties to query for the switch "--query-gpu":', ""];
  for (const f of SMI_FIELDS) lines.push(f.alias ? `"${f.name}" or "${f.alias}"` : `"${f.name}"`, `The value of ${f.name}.`, "");
  return `${lines.join("\n")}\n`;
}
