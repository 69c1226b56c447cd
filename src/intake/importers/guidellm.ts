import { AppError } from "../../../schemas/error-codes.js";
import type { RequestView } from "../../../schemas/requests.js";
import { asArray, asObject, asText } from "../exact-json.js";
import { readDocument } from "../input-lines.js";
import { type GuidellmOutcome, guidellmRecord } from "./guidellm-record.js";
import { defineImporter } from "./importer.js";
import { RowBatch } from "./row-batch.js";

const OUTCOMES: readonly GuidellmOutcome[] = ["successful", "errored", "incomplete"];

/** GuideLLM's JSON report: one or more benchmarks (a sweep), or a single request record of it. */
export const guidellm = defineImporter({
  name: "guidellm",
  looks_for: "a GuideLLM report (benchmarks with requests.successful)",

  recognise(head) {
    if (!/^\s*\{/.test(head)) return 0;
    if (/"guidellm_version"\s*:/.test(head)) return 0.95;
    if (/"type_"\s*:\s*"generative_(?:benchmark|text_response)"/.test(head)) return 0.9;
    return /"benchmarks"\s*:\s*\[/.test(head) ? 0.55 : 0;
  },

  async import(file, context) {
    const source = { name: "guidellm", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    const take = (item: unknown, outcome: GuidellmOutcome, model: string | null, url: string | null): void => {
      const record = asObject(item);
      const view = record ? guidellmRecord(record, outcome, model, url) : "syntax";
      if (typeof view === "string") context.sink.rejected(source, view, 1);
      else batch.add(view);
    };
    const report = parseReport(await readDocument(file, context.limits), file.path);
    if (report.scheduler_info !== undefined) take(report, "successful", null, null);
    for (const benchmark of asArray(report.benchmarks).map(asObject)) {
      const backend = asObject(asObject(benchmark?.config)?.backend) ?? asObject(benchmark?.worker) ?? {};
      const model = asText(backend.model) ?? asText(backend.backend_model);
      const url = hostPort(asText(backend.target) ?? asText(backend.backend_target) ?? asText(asObject(report.args)?.target));
      const requests = asObject(benchmark?.requests);
      if (!requests) context.warn("a benchmark has no requests: it holds aggregates only");
      for (const outcome of OUTCOMES) for (const item of asArray(requests?.[outcome])) take(item, outcome, model, url);
    }
    batch.flush();
  },
});

function parseReport(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const report = asObject(JSON.parse(text));
    if (report) return report;
  } catch {
    // told below: the same line serves for what is no JSON and what is no object
  }
  throw new AppError("FILE_FORMAT", `${path} is no whole JSON document`, { mend: "GuideLLM writes it at the end of its run: let it end" });
}

/** `http://host:8000/v1` as `host:8000`, the way server entities name their URL. */
const hostPort = (url: string | null): string | null => (url === null ? null : url.replace(/^[a-z]+:\/\//i, "").replace(/\/.*$/, ""));
