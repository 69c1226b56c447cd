import type { RequestView } from "../../../schemas/requests.js";
import { contentId } from "../../core/content-id.js";
import { asText } from "../exact-json.js";
import { isAnchored, secondsToUs } from "../nanoseconds.js";
import { clientView } from "./client-view.js";
import { defineImporter } from "./importer.js";
import { readJsonLines } from "./json-lines.js";
import { secondsMs } from "./number-lists.js";
import { RowBatch } from "./row-batch.js";

/** A wait longer than this comes from the difference of two clocks. */
const LONGEST_WAIT_MS = 1e9;

/** Dumps of vLLM V0's `RequestMetrics`, one a line: epoch seconds, but some builds mix a monotonic arrival with an epoch schedule. */
export const vllmRequestMetrics = defineImporter({
  name: "vllm-request-metrics",
  looks_for: "vLLM V0 RequestMetrics (lines with arrival_time and first_scheduled_time)",
  by_line: true,

  recognise(head) {
    return /^\s*\{/.test(head) && /"arrival_time"\s*:/.test(head) && /"first_scheduled_time"\s*:/.test(head) ? 0.9 : 0;
  },

  async import(file, context) {
    const source = { name: "vllm-request-metrics", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string) => context.sink.rejected(source, reason, 1);
    const batch = new RowBatch<RequestView>((rows) => context.sink.requests(source, rows));
    for await (const lines of readJsonLines(file, context.limits, refuse)) {
      for (const line of lines) {
        const view = viewOf(line);
        if (typeof view === "string") refuse(view);
        else batch.add(view);
      }
    }
    batch.flush();
  },
});

function viewOf(line: Readonly<Record<string, unknown>>): RequestView | string {
  const start_us = secondsToUs(line.arrival_time);
  if (start_us === null) return "start_time";
  if (!isAnchored(start_us)) return "clock_not_anchored";
  const end_us = secondsToUs(line.finished_time) ?? secondsToUs(line.last_token_time);
  const first_token_us = secondsToUs(line.first_token_time);
  const scheduled = secondsToUs(line.first_scheduled_time);
  if (end_us !== null && end_us < start_us) return "end_before_start";
  const e2e_ms = end_us === null ? null : (end_us - start_us) / 1000;
  const queue_ms = secondsMs(line.time_in_queue);
  if (queue_ms !== null && (queue_ms > LONGEST_WAIT_MS || (e2e_ms !== null && queue_ms > e2e_ms))) return "mixed_clocks";
  const between = (a: number | null, b: number | null): number | null => (a === null || b === null || b < a ? null : (b - a) / 1000);
  return clientView({
    request_id: asText(line.request_id) ?? contentId(JSON.stringify([line.arrival_time, line.first_token_time, line.finished_time])),
    view: "server",
    start_us,
    first_token_us,
    end_us,
    ttft_ms: between(start_us, first_token_us),
    e2e_ms,
    queue_ms,
    prefill_ms: between(scheduled, first_token_us),
    decode_ms: between(first_token_us, secondsToUs(line.last_token_time)),
    status: end_us === null ? "open" : "ok",
  });
}
