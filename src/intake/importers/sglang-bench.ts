import { asArray, asNumber } from "../exact-json.js";
import { defineImporter } from "./importer.js";
import { readJsonObjects } from "./json-objects.js";

const OWN_KEYS = /"(?:total_output_tokens_retokenized|sharegpt_output_len|random_input_len|random_range_ratio|mean_e2e_latency_ms)"\s*:/;

/**
 * SGLang's bench_serving, one result a line. It writes no time at all, not even that of the run: what it measured is told, and its
 * requests are counted as what they are, without a start.
 */
export const sglangBench = defineImporter({
  name: "sglang-bench",
  looks_for: "a result of SGLang's bench_serving (total_output_tokens_retokenized, mean_e2e_latency_ms)",

  recognise(head) {
    return /^\s*\{/.test(head) && OWN_KEYS.test(head) && /"(?:completed|duration)"\s*:/.test(head) && !/"date"\s*:/.test(head) ? 0.9 : 0;
  },

  async import(file, context) {
    const source = { name: "sglang-bench", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string, count = 1) => context.sink.rejected(source, reason, count);
    for (const result of await readJsonObjects(file, context.limits, refuse)) {
      const requests = asArray(result.ttfts).length || (asNumber(result.completed) ?? 0);
      refuse("start_time", Math.max(1, requests));
      const text = (key: string, unit: string) => {
        const value = asNumber(result[key]);
        return value === null ? [] : [`${key.replace(/_ms$|_s$/, "").replaceAll("_", " ")} ${Number(value.toPrecision(4))}${unit}`];
      };
      const figures = [
        ...text("duration", " s"),
        ...text("mean_ttft_ms", " ms"),
        ...text("p99_ttft_ms", " ms"),
        ...text("mean_itl_ms", " ms"),
      ];
      context.warn(
        `SGLang's bench_serving writes no times: its ${requests} requests cannot be placed (${figures.join(", ") || "no figures"}); let SGLang write traces (--enable-trace), or mark the run with whyslow run`,
      );
    }
  },
});
