import type { RequestView } from "../../../schemas/requests.js";
import { asArray, asNumber, asText } from "../exact-json.js";
import { defineImporter, type ImportContext } from "./importer.js";
import { readJsonObjects } from "./json-objects.js";
import { RowBatch } from "./row-batch.js";
import { runClock } from "./run-clock.js";
import { monotonicExtent, resultDate, vllmBenchRecord } from "./vllm-bench-record.js";

type Fields = Readonly<Record<string, unknown>>;

/**
 * `vllm bench serve --save-result --save-detailed`, and the older benchmark_serving.py: one result, or several with
 * `--append-result`. Its start times count from the start of the client's machine.
 */
export const vllmBench = defineImporter({
  name: "vllm-bench",
  looks_for: "a result of vllm bench serve (date, completed, ttfts)",

  recognise(head) {
    return /^\s*\{/.test(head) && /"date"\s*:\s*"\d{8}-\d{6}"/.test(head) && /"completed"\s*:/.test(head) ? 0.9 : 0;
  },

  async import(file, context) {
    const source = { name: "vllm-bench", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string, count = 1) => context.sink.rejected(source, reason, count);
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    for (const result of await readJsonObjects(file, context.limits, refuse)) {
      const facts = manifestOf(result);
      if (Object.keys(facts).length > 0) context.sink.manifest(context.run, facts);
      takeRequests(result, context, batch, refuse);
    }
    batch.flush();
  },
});

function takeRequests(
  result: Fields,
  context: ImportContext,
  batch: RowBatch<RequestView>,
  refuse: (why: string, n?: number) => void,
): void {
  const n = asArray(result.ttfts).length;
  const extent = monotonicExtent(result);
  if (n === 0) {
    refuse("aggregate");
    context.warn("a result without --save-detailed holds aggregates only: there is no request in it to explain");
  } else if (extent === null) {
    refuse("start_time", n);
    context.warn("its requests have no start_times (vllm bench serve writes them since 2025): they cannot be placed in time");
  } else {
    const clock = runClock(context, { ...extent, date: resultDate(result) });
    context.warn(clock.note);
    for (let i = 0; i < n; i++) {
      const start = asNumber(asArray(result.start_times)[i]);
      if (start === null) refuse("start_time");
      else if (clock.offset_us === null) refuse("clock_not_anchored");
      else batch.add(vllmBenchRecord(result, i, Math.round(start * 1e6) + clock.offset_us));
    }
  }
}

const FACTS: readonly (readonly [string, string])[] = [
  ["model", "model_id"],
  ["request_rate", "request_rate"],
  ["max_concurrency", "max_concurrency"],
];

/** The rate may be the text `inf`; null means that it was not set. */
function manifestOf(result: Fields): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const [key, field] of FACTS) {
    const value = result[field];
    const text = typeof value === "number" ? String(value) : asText(value);
    if (text !== null) facts[key] = text;
  }
  return facts;
}
