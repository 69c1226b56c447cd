import { createSmiCsvReader } from "../../text/nvidia-smi-csv.js";
import { readGpuRow, type SmiGpuRow } from "../../text/nvidia-smi-gpu-row.js";
import { readLines } from "../input-lines.js";
import { defineImporter } from "./importer.js";
import { createSmiLog, type SmiLog } from "./nvidia-smi-log.js";

const HEADER = /^(?:timestamp|index|uuid|gpu_uuid|name|gpu_name|pci\.bus_id|count|driver_version)(?: \[[^\]]+\])?\s*,/m;
const TELLING = /\b(?:utilization\.gpu|power\.draw|memory\.used|temperature\.gpu|clocks\.(?:current\.)?sm)\b/;
/** Rows without a header: the stamp, or an index, a UUID and numbers with units. */
const STAMPED_ROW = /^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?,\s*\S/m;
const BARE_ROW = /^\d{1,2},\s*GPU-[0-9a-f-]*,/im;

/** Logs of `nvidia-smi --query-gpu=… --format=csv -l`, with or without units, header and order; InferenceX writes the same. */
export const nvidiaSmiCsv = defineImporter({
  name: "nvidia-smi-csv",
  looks_for: "a log of nvidia-smi --query-gpu --format=csv (timestamp, utilization.gpu, power.draw, …)",

  recognise(head) {
    if (HEADER.test(head) && TELLING.test(head)) return 0.9;
    return STAMPED_ROW.test(head) || BARE_ROW.test(head) ? 0.6 : 0;
  },

  async import(file, context) {
    const log = createSmiLog("nvidia-smi-query", context);
    const reader = createSmiCsvReader({ ...(context.columns === null ? {} : { fields: context.columns }), freeText: "name" });
    let headless = 0;
    let timeless = 0;
    for await (const { lines, unterminated } of readLines(file, context.limits, () => log.refuse("line_too_long"))) {
      lines.forEach((line, i) => {
        const event = reader.push(line);
        if (event.kind === "row") {
          if (!takeRow(readGpuRow(event.row), log)) timeless++;
        } else if (event.kind === "problem") log.refuse(event.problem.state);
        else if (event.kind === "rejected") {
          if (event.reason === "no_header") headless++;
          log.refuse(unterminated && i === lines.length - 1 ? "truncated" : event.reason);
        }
      });
    }
    log.end();
    if (headless > 0)
      context.warn(
        "it has rows without a header: name the fields in the order of the query with --columns, e.g. timestamp,index,power.draw",
      );
    if (timeless > 0) context.warn("it has rows without a time: log the field timestamp too, so that they can be placed");
  },
});

/** False when the row has no time. A broken device gives a mark and no numbers. */
function takeRow(row: SmiGpuRow, log: SmiLog): boolean {
  log.refuseAll(row.refused);
  const key = row.uuid ?? row.busId ?? (row.index === null ? null : `index:${row.index}`);
  if (key === null) {
    log.refuse("no_gpu");
    return true;
  }
  if (row.stamp_us === null) {
    log.refuse("no_timestamp");
    return false;
  }
  const ts_us = log.local.toUtc(row.stamp_us);
  if (ts_us === null) {
    log.refuse("local_time");
    return true;
  }
  log.placed();
  if (row.fault !== null) log.fault(ts_us, `GPU ${key}: ${row.fault.replaceAll("_", " ")}`);
  else log.sample(key, { index: row.index, model: row.model, pci_bus_id: row.busId }, ts_us, row.values);
  return true;
}
