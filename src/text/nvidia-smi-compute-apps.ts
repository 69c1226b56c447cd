import { parseSmiCell, smiText } from "./nvidia-smi-cell.js";
import { createSmiCsvReader } from "./nvidia-smi-csv.js";

/** One process on one GPU. With MIG the uuid is the parent's. */
export interface SmiComputeApp {
  readonly uuid: string;
  readonly pid: number;
  readonly name: string | null;
  /** Null under WDDM and without permission. */
  readonly usedBytes: number | null;
}

export interface SmiComputeApps {
  readonly apps: readonly SmiComputeApp[];
  /** False when not even a header was printed: then "no processes" is not known. */
  readonly answered: boolean;
  readonly rejected: number;
}

/** Reads `--query-compute-apps=...,gpu_uuid,pid,process_name,used_gpu_memory --format=csv[,nounits]`. A header alone = no process. */
export const parseComputeApps = (text: string): SmiComputeApps => {
  const reader = createSmiCsvReader({ freeText: "process_name" });
  const apps: SmiComputeApp[] = [];
  let [answered, rejected] = [false, 0];
  for (const line of text.split(/\r?\n/)) {
    const event = reader.push(line);
    if (event.kind === "header") answered = true;
    if (event.kind === "rejected") rejected += 1;
    if (event.kind !== "row") continue;
    const { cells } = event.row;
    const uuid = smiText(cells["uuid"]);
    const pid = parseSmiCell(cells["pid"] ?? "");
    if (uuid === null || pid.kind !== "number") {
      rejected += 1;
      continue;
    }
    const used = parseSmiCell(cells["used_gpu_memory"] ?? "");
    apps.push({
      uuid,
      pid: pid.value,
      name: smiText(cells["process_name"]),
      usedBytes: used.kind === "number" ? used.value * 1024 * 1024 : null,
    });
  }
  return { apps, answered, rejected };
};
