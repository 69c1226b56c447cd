import type { RequestView } from "../../../schemas/requests.js";
import { contentId } from "../../core/content-id.js";
import { asArray, asNumber, asObject, asText } from "../exact-json.js";
import { isAnchored, secondsToUs } from "../nanoseconds.js";
import { clientView } from "./client-view.js";
import { defineImporter } from "./importer.js";
import { readJsonObjects } from "./json-objects.js";
import { positive } from "./number-lists.js";
import { RowBatch } from "./row-batch.js";

type Fields = Readonly<Record<string, unknown>>;

/** llm-load-test (and fmperf): epoch seconds beside durations in milliseconds; one record, a list, or a report with `results`. */
export const llmLoadTest = defineImporter({
  name: "llm-load-test",
  looks_for: "llm-load-test records (start_time, ack_time, response_time)",

  recognise(head) {
    return /"tt_ack"\s*:/.test(head) || (/"ack_time"\s*:/.test(head) && /"response_time"\s*:/.test(head)) ? 0.9 : 0;
  },

  async import(file, context) {
    const source = { name: "llm-load-test", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string, count = 1) => context.sink.rejected(source, reason, count);
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    const roots = await readJsonObjects(file, context.limits, refuse);
    for (const root of roots) {
      const model = asText(asObject(root.config)?.model_name) ?? asText(root.model_id);
      for (const record of root.results === undefined ? [root] : asArray(root.results).map(asObject)) {
        const view = record === null ? "syntax" : viewOf(record, model);
        if (typeof view === "string") refuse(view);
        else batch.add(view);
      }
    }
    batch.flush();
  },
});

function viewOf(record: Fields, model: string | null): RequestView | string {
  const start_us = secondsToUs(record.start_time);
  if (start_us === null) return "start_time";
  if (!isAnchored(start_us)) return "clock_not_anchored";
  const end_us = secondsToUs(record.end_time);
  if (end_us !== null && end_us < start_us) return "end_before_start";
  const failed = asText(record.error_text) !== null || (asNumber(record.error_code) ?? 0) !== 0;
  const timeout = record.timeout === true;
  return clientView({
    // It writes no id: a request is known by its stamps.
    request_id: contentId(JSON.stringify([record.user_id, record.start_time, record.end_time, record.first_token_time])),
    start_us,
    first_token_us: secondsToUs(record.first_token_time),
    end_us,
    ttft_ms: positive(record.ttft),
    e2e_ms: positive(record.response_time),
    input_tokens: positive(record.input_tokens),
    output_tokens: positive(record.output_tokens),
    status: timeout ? "timeout" : failed ? "error" : "ok",
    error: timeout ? "timeout" : failed ? `error${asNumber(record.error_code) === null ? "" : ` (${asNumber(record.error_code)})`}` : null,
    model,
    route: record.user_id === undefined ? null : `user ${String(asNumber(record.user_id) ?? "")}`.trim(),
  });
}
