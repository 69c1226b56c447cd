import { DEFAULT_SERVER, DEFAULT_WORKLOAD, type Fault, type ServerOptions, type Workload } from "../src/sim/scenario.js";
import type { Recording } from "./record-run.js";

const SECOND = 1e6;
const window = (kind: Fault["kind"], magnitude: number, extra: Partial<Fault> = {}): Fault => ({
  kind,
  start_us: 34 * SECOND,
  end_us: 44 * SECOND,
  magnitude,
  ...extra,
});

const EPOCH_US = 1_790_000_000 * SECOND;
const workload: Workload = { ...DEFAULT_WORKLOAD, rate_per_s: 4.5, prompt_median: 700, output_median: 90 };

function recording(
  name: string,
  seed: number,
  faults: readonly Fault[],
  server: Partial<ServerOptions>,
  traces: Recording["traces"],
  load: Partial<Workload> = {},
): Recording {
  return {
    name,
    scenario: { seed, server: { ...DEFAULT_SERVER, ...server }, workload: { ...workload, ...load }, faults },
    seconds: 75,
    traces,
    interval_s: 1,
    epoch_us: EPOCH_US + seed * 3600 * SECOND,
  };
}

/** One small run a class and a quiet one: what `test/fixtures/lab` is made of. */
export const RECORDINGS: Readonly<Record<string, Recording>> = {
  compute: recording("lab-long_prompts-h100", 11, [window("long_prompts", 14_000, { rate_per_s: 1.6 })], {}, "aiperf"),
  bandwidth: recording("lab-bw_cotenant-h100", 12, [window("bw_cotenant", 0.8)], {}, "otlp", { rate_per_s: 6 }),
  kv_cache: recording("lab-kv_full-a100", 13, [window("kv_full", 0.96)], { gpu: "a100", model: "qwen2.5-7b", kv_tokens: 60_000 }, "otlp", {
    output_median: 140,
  }),
  cpu_tokenization: recording("lab-cpu_tokenize-h100", 14, [window("cpu_tokenize", 150)], {}, "aiperf"),
  communication: recording("lab-link_degraded-h100tp2", 15, [window("link_degraded", 0.015)], { tp: 2 }, "otlp", { rate_per_s: 6 }),
  quiet: recording("lab-none-h100", 16, [], {}, "aiperf"),
};
