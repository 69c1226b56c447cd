import type { RequestView } from "../../../schemas/requests.js";
import { asArray, asObject } from "../exact-json.js";
import { defineImporter } from "./importer.js";
import { readJsonObjects } from "./json-objects.js";
import { perfAnalyzerRecord } from "./perf-analyzer-record.js";
import { RowBatch } from "./row-batch.js";

/** `profile_export.json` of Triton's perf_analyzer and of GenAI-Perf. */
export const perfAnalyzer = defineImporter({
  name: "perf-analyzer",
  looks_for: "a perf_analyzer or GenAI-Perf export (experiments with requests)",

  recognise(head) {
    return /^\s*\{/.test(head) && /"experiments"\s*:\s*\[/.test(head) ? 0.9 : 0;
  },

  async import(file, context) {
    const source = { name: "perf-analyzer", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string, count = 1) => context.sink.rejected(source, reason, count);
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    for (const root of await readJsonObjects(file, context.limits, refuse)) {
      for (const experiment of asArray(root.experiments).map(asObject)) {
        for (const item of asArray(experiment?.requests)) {
          const record = asObject(item);
          const view = record === null ? "syntax" : perfAnalyzerRecord(record);
          if (typeof view === "string") refuse(view);
          else batch.add(view);
        }
      }
    }
    batch.flush();
  },
});
