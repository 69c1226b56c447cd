import { defineImporter } from "./importer.js";
import { readJsonObjects } from "./json-objects.js";

/** LLMPerf's `*_individual_responses.json`. It writes no times, so that its requests cannot be placed; they are counted. */
export const llmperf = defineImporter({
  name: "llmperf",
  looks_for: "LLMPerf's individual responses (ttft_s, end_to_end_latency_s)",

  recognise(head) {
    return /"ttft_s"\s*:/.test(head) && /"end_to_end_latency_s"\s*:/.test(head) ? 0.95 : 0;
  },

  async import(file, context) {
    const source = { name: "llmperf", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string, count = 1) => context.sink.rejected(source, reason, count);
    const records = await readJsonObjects(file, context.limits, refuse);
    refuse("start_time", records.length);
    context.warn("LLMPerf writes no times: its requests cannot be placed. Its inter_token_latency_s contains the time to first token");
  },
});
