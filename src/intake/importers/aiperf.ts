import type { RequestView } from "../../../schemas/requests.js";
import type { SourceSpec } from "../../../schemas/samples.js";
import { aiperfRecord } from "./aiperf-record.js";
import { defineImporter } from "./importer.js";
import { readJsonLines } from "./json-lines.js";
import { RowBatch } from "./row-batch.js";

/** AIPerf's per-request records, `profile_export.jsonl`. */
export const aiperf = defineImporter({
  name: "aiperf",
  looks_for: "AIPerf request records (lines with metadata.x_request_id and metrics)",
  by_line: true,

  recognise(head) {
    const line = head.slice(0, head.indexOf("\n") < 0 ? undefined : head.indexOf("\n"));
    return /^\s*\{/.test(line) && /"metadata"\s*:\s*\{/.test(line) && /"x_request_id"\s*:/.test(line) && /"metrics"\s*:\s*\{/.test(line)
      ? 0.95
      : 0;
  },

  async import(file, context) {
    const source: SourceSpec = { name: "aiperf", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    const refuse = (reason: string) => context.sink.rejected(source, reason, 1);
    for await (const lines of readJsonLines(file, context.limits, refuse)) {
      for (const line of lines) {
        const record = aiperfRecord(line);
        if (typeof record === "string") refuse(record);
        else batch.add(record);
      }
    }
    batch.flush();
  },
});
