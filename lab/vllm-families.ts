import type { Histogram } from "../src/sim/histogram.js";
import type { InferenceNode } from "../src/sim/inference-node.js";
import { KV_BLOCK_TOKENS } from "../src/sim/scenario.js";
import { type Family, pythonFloat, type Reading } from "./metric-family.js";

/** The fixed facts of the engine's /metrics page. */
export interface PageFacts {
  /** Unix seconds at which the server process started. */
  readonly start_s: number;
  readonly extra: Readonly<Record<string, string>>;
}

function histogram(name: string, help: string, h: Histogram, labels: Record<string, string>): Family {
  const samples: Reading[] = h.bounds.map((bound, i) => ({
    suffix: "_bucket",
    labels: { engine: labels.engine!, le: pythonFloat(bound), ...labels },
    value: pythonFloat(h.counts[i]!),
  }));
  samples.push({ suffix: "_bucket", labels: { engine: labels.engine!, le: "+Inf", ...labels }, value: pythonFloat(h.count) });
  samples.push({ suffix: "_count", labels, value: pythonFloat(h.count) }, { suffix: "_sum", labels, value: pythonFloat(h.sum) });
  return { name, help, type: "histogram", samples };
}

/** Gauges and counters of vLLM V1, without the histograms. */
export function vllmLevels(node: InferenceNode, facts: PageFacts): Family[] {
  const labels = { engine: "0", model_name: node.scenario.server.model, ...facts.extra };
  const { counters, scheduler } = node;
  const gauge = (name: string, help: string, value: number): Family => ({
    name,
    help,
    type: "gauge",
    samples: [{ labels, value: pythonFloat(value) }],
  });
  const counter = (name: string, help: string, value: number): Family => ({ ...gauge(name, help, value), type: "counter" });
  return [
    gauge("vllm:num_requests_running", "Number of requests in model execution batches.", scheduler.running.length),
    gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.", scheduler.waiting.length),
    gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", Number(scheduler.kv.usage.toFixed(6))),
    counter("vllm:prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.", counters.prompt_tokens),
    counter("vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", counters.cached_tokens),
    counter("vllm:num_preemptions_total", "Cumulative number of preemption from the engine.", scheduler.preemptions),
    counter("vllm:prompt_tokens_total", "Number of prefill tokens processed.", counters.prompt_tokens),
    counter("vllm:generation_tokens_total", "Number of generation tokens processed.", counters.generation_tokens),
    {
      name: "vllm:request_success_total",
      help: "Count of successfully processed requests.",
      type: "counter",
      samples: ["stop", "length", "abort"].map((reason) => ({
        labels: { engine: "0", finished_reason: reason, model_name: node.scenario.server.model, ...facts.extra },
        value: pythonFloat(reason === "stop" ? counters.success : reason === "abort" ? counters.refused : 0),
      })),
    },
  ];
}

/** The whole page of one vLLM V1 server (0.11). */
export function vllmPage(node: InferenceNode, facts: PageFacts): Family[] {
  const labels = { engine: "0", model_name: node.scenario.server.model, ...facts.extra };
  const h = node.histograms;
  const single = (name: string, help: string, type: "gauge" | "counter", value: number): Family => ({
    name,
    help,
    type,
    samples: [{ labels: {}, value: pythonFloat(value) }],
  });
  const levels = vllmLevels(node, facts);
  const created = levels
    .filter((f) => f.type === "counter")
    .map((f): Family => {
      const name = f.name.replace(/_total$/, "_created");
      return {
        name,
        help: f.help,
        type: "gauge",
        samples: f.samples.map((s) => ({ labels: s.labels, value: pythonFloat(facts.start_s) })),
      };
    });
  return [
    single("process_resident_memory_bytes", "Resident memory size in bytes.", "gauge", 1.089e9),
    single("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", "gauge", facts.start_s),
    single(
      "process_cpu_seconds_total",
      "Total user and system CPU time spent in seconds.",
      "counter",
      Math.round((11 + node.front.cpu.integral(0, node.now_us) / 1e6) * 100) / 100,
    ),
    ...levels,
    ...created,
    histogram("vllm:request_prompt_tokens", "Number of prefill tokens processed.", h.prompt_tokens, labels),
    histogram("vllm:request_generation_tokens", "Number of generation tokens processed.", h.generation_tokens, labels),
    histogram("vllm:iteration_tokens_total", "Histogram of number of tokens per engine_step.", h.iteration_tokens, labels),
    histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", h.ttft, labels),
    histogram(
      "vllm:time_per_output_token_seconds",
      "Histogram of time per output token in seconds.DEPRECATED: Use vllm:inter_token_latency_seconds instead.",
      h.itl,
      labels,
    ),
    histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", h.itl, labels),
    histogram("vllm:request_time_per_output_token_seconds", "Histogram of time_per_output_token_seconds per request.", h.tpot, labels),
    histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", h.e2e, labels),
    histogram("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", h.queue, labels),
    histogram("vllm:request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", h.inference, labels),
    histogram("vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", h.prefill, labels),
    histogram("vllm:request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", h.decode, labels),
    {
      name: "vllm:cache_config_info",
      help: "Information of the LLMEngine CacheConfig",
      type: "gauge",
      samples: [
        {
          labels: {
            block_size: String(KV_BLOCK_TOKENS),
            cache_dtype: "auto",
            enable_prefix_caching: "True",
            engine: "0",
            gpu_memory_utilization: "0.9",
            num_cpu_blocks: "None",
            num_gpu_blocks: String(node.scheduler.kv.total),
            ...facts.extra,
          },
          value: "1.0",
        },
      ],
    },
  ];
}
