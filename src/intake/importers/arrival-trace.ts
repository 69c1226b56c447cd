import { readLines } from "../input-lines.js";
import { defineImporter } from "./importer.js";
import { firstObject } from "./json-lines.js";

/** First lines of the CSV traces. */
const AZURE = /^\s*TIMESTAMP,ContextTokens,GeneratedTokens/i;
const BURST_GPT = /^\s*Timestamp,(?:Session ID,)?(?:Elapsed time,)?Model,Request tokens,Response tokens/i;

function isMooncake(head: string): boolean {
  const first = /^\s*\{/.test(head) ? firstObject(head) : null;
  return first !== null && "timestamp" in first && "input_length" in first && "output_length" in first;
}

/**
 * Arrival traces (Mooncake, Azure LLM inference, BurstGPT): when requests came and how long they were, without a latency. There is
 * nothing in them to explain, so their rows are counted and refused.
 */
export const arrivalTrace = defineImporter({
  name: "arrival-trace",
  looks_for: "an arrival trace (Mooncake, Azure LLM inference, BurstGPT)",

  recognise(head) {
    return AZURE.test(head) || BURST_GPT.test(head) || isMooncake(head) ? 0.9 : 0;
  },

  async import(file, context) {
    const source = { name: "arrival-trace", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    let rows = 0;
    for await (const { lines } of readLines(file, context.limits, () => context.sink.rejected(source, "line_too_long", 1))) {
      for (const line of lines) if (line.trim() !== "" && !AZURE.test(line) && !BURST_GPT.test(line)) rows++;
    }
    context.sink.rejected(source, "no_latency", rows);
    context.warn(`an arrival trace: ${rows} arrivals with lengths and no latencies, so there is nothing to diagnose`);
  },
});
