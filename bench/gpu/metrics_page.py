"""The /metrics page under vLLM V1's names."""
import bisect

SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0]
GAPS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0]
WHOLE = [0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0]
TOKENS = [1.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0]

HISTOGRAMS = {
    "time_to_first_token_seconds": SECONDS,
    "inter_token_latency_seconds": GAPS,
    "e2e_request_latency_seconds": WHOLE,
    "request_queue_time_seconds": WHOLE,
    "request_prefill_time_seconds": WHOLE,
    "request_decode_time_seconds": WHOLE,
    "iteration_tokens_total": TOKENS,
}
COUNTERS = {
    "prefix_cache_queries": "Prefix cache queries, in terms of number of queried tokens.",
    "prefix_cache_hits": "Prefix cache hits, in terms of number of cached tokens.",
    "num_preemptions": "Cumulative number of preemption from the engine.",
    "prompt_tokens": "Number of prefill tokens processed.",
    "generation_tokens": "Number of generation tokens processed.",
}
GAUGES = {
    "num_requests_running": ("running", "Number of requests in model execution batches."),
    "num_requests_waiting": ("waiting", "Number of requests waiting to be processed."),
    "kv_cache_usage_perc": ("usage", "KV-cache usage. 1 means 100 percent usage."),
}


class Histogram:
    def __init__(self, bounds):
        self.bounds, self.counts, self.sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value):
        self.counts[bisect.bisect_left(self.bounds, value)] += 1
        self.sum += value


class Metrics:
    def __init__(self, model):
        self.labels = f'engine="0",model_name="{model}"'
        self.histograms = {name: Histogram(bounds) for name, bounds in HISTOGRAMS.items()}
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.success = 0
        self.stats = {"running": 0, "waiting": 0, "usage": 0.0, "blocks": 0}

    def observe(self, name, seconds):
        self.histograms[name].add(max(0.0, seconds))

    def page(self):
        out = []

        def family(name, kind, help_text, lines):
            out.append(f"# HELP vllm:{name} {help_text}\n# TYPE vllm:{name} {kind}\n")
            out.extend(f"vllm:{line}\n" for line in lines)

        for name, (key, text) in GAUGES.items():
            family(name, "gauge", text, [f"{name}{{{self.labels}}} {float(self.stats[key])}"])
        for name, text in COUNTERS.items():
            family(f"{name}_total", "counter", text, [f"{name}_total{{{self.labels}}} {float(self.counters[name])}"])
        done = f'request_success_total{{engine="0",finished_reason="length",{self.labels[11:]}}} {float(self.success)}'
        family("request_success_total", "counter", "Count of successfully processed requests.", [done])
        for name, histogram in self.histograms.items():
            lines, total = [], 0
            for bound, count in zip([*histogram.bounds, "+Inf"], histogram.counts):
                total += count
                lines.append(f'{name}_bucket{{{self.labels},le="{bound}"}} {float(total)}')
            lines += [f"{name}_count{{{self.labels}}} {float(total)}", f"{name}_sum{{{self.labels}}} {histogram.sum}"]
            family(name, "histogram", f"Histogram of {name}.", lines)
        info = f'cache_config_info{{block_size="16",engine="0",num_gpu_blocks="{self.stats["blocks"]}"}} 1.0'
        family("cache_config_info", "gauge", "Information of the LLMEngine CacheConfig", [info])
        return "".join(out)
