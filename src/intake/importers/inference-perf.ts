import type { RequestView } from "../../../schemas/requests.js";
import { contentId } from "../../core/content-id.js";
import { asArray, asObject, asText } from "../exact-json.js";
import { clientLimit } from "./client-limit.js";
import { after, clientView } from "./client-view.js";
import { defineImporter, type ImportContext } from "./importer.js";
import { readJsonObjects } from "./json-objects.js";
import { numberList, positive, secondsMs } from "./number-lists.js";
import { RowBatch } from "./row-batch.js";
import { runClock } from "./run-clock.js";

type Fields = Readonly<Record<string, unknown>>;
type Refuse = (reason: string, count?: number) => void;

/**
 * kubernetes-sigs/inference-perf: `per_request_lifecycle_metrics.json` (times of the client's monotonic clock), and its aggregates,
 * which only tell whether the load generator kept up. Its Prometheus aggregates print 0 for a metric that the server does not have.
 */
export const inferencePerf = defineImporter({
  name: "inference-perf",
  looks_for: "inference-perf lifecycle metrics (load_summary, or requests with info.output_token_times)",

  recognise(head) {
    if (/^\s*\{\s*"load_summary"\s*:/.test(head)) return 0.9;
    return /^\s*\[\s*\{/.test(head) &&
      /"start_time"\s*:/.test(head) &&
      /"(?:output_token_times|response_metrics|request_metrics)"\s*:/.test(head)
      ? 0.9
      : 0;
  },

  async import(file, context) {
    const source = { name: "inference-perf", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse: Refuse = (reason, count = 1) => context.sink.rejected(source, reason, count);
    const roots = await readJsonObjects(file, context.limits, refuse);
    const aggregates = roots.filter((root) => root.load_summary !== undefined);
    for (const report of aggregates) tellAggregate(report, context, refuse);
    const records = roots.filter((root) => root.load_summary === undefined);
    if (records.length === 0) return;
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    takeRecords(records, context, batch, refuse);
    batch.flush();
  },
});

function tellAggregate(report: Fields, context: ImportContext, refuse: Refuse): void {
  refuse("aggregate");
  const limit = clientLimit(report);
  if (limit !== null) {
    context.sink.manifest(context.run, { client_limited: limit });
    context.warn(`client-limited: the load generator could not keep up (${limit}), so the client's latencies say nothing about the server`);
  }
  const kv = asObject(asObject(report.successes)?.kv_cache_usage_percentage);
  if (kv !== null)
    context.warn("aggregates of Prometheus queries: a 0 may stand for a metric that the server does not have, so none is taken");
  else context.warn("aggregates hold no request to explain; import per_request_lifecycle_metrics.json");
}

function takeRecords(records: readonly Fields[], context: ImportContext, batch: RowBatch<RequestView>, refuse: Refuse): void {
  const micros = (seconds: unknown): number | null => {
    const value = positive(seconds);
    return value === null ? null : Math.round(value * 1e6);
  };
  const starts = records.flatMap((r) => micros(r.start_time) ?? []);
  const ends = records.flatMap((r) => micros(r.end_time) ?? []);
  const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const clock = starts.length === 0 ? null : runClock(context, { first_us: least(starts), last_us: most(ends), date: null });
  if (clock !== null) context.warn(clock.note);
  for (const record of records) {
    const start = micros(record.start_time);
    if (start === null) refuse("start_time");
    else if (clock === null || clock.offset_us === null) refuse("clock_not_anchored");
    else batch.add(viewOf(record, start, clock.offset_us));
  }
}

function viewOf(record: Fields, start: number, offset_us: number): RequestView {
  const info = asObject(record.info) ?? {};
  const response = asObject(info.response_metrics) ?? info;
  const request = asObject(info.request_metrics) ?? info;
  const times = numberList(response.output_token_times ?? response.chunk_times) ?? [];
  const tokens = times.every((t) => t !== null) ? times : [];
  const failure = asObject(record.error);
  const startS = positive(record.start_time) ?? 0;
  const endS = positive(record.end_time);
  const ttft_ms = tokens[0] === undefined ? null : (tokens[0] - startS) * 1000;
  const e2e_ms = endS === null || endS < startS ? null : secondsMs(endS - startS);
  return clientView({
    request_id: contentId(JSON.stringify([record.start_time, record.end_time, tokens[0], tokens.length])),
    start_us: start + offset_us,
    first_token_us: after(start + offset_us, ttft_ms),
    end_us: after(start + offset_us, e2e_ms),
    ttft_ms,
    e2e_ms,
    input_tokens: positive(request.input_tokens),
    output_tokens: positive(response.output_tokens) ?? (asArray(response.output_token_times).length || null),
    gaps_ms: tokens.length === 0 ? null : Float32Array.from(tokens.slice(1), (t, i) => (t - tokens[i]!) * 1000),
    status: failure === null ? "ok" : /timeout/i.test(asText(failure.error_type) ?? "") ? "timeout" : "error",
    error: failure === null ? null : (asText(failure.error_type) ?? "error"),
  });
}
