"""One OTLP/JSON span a request, as vLLM writes it (`llm_request`), posted in batches; each batch is kept in a file as well."""
import json
import threading
import urllib.request

BATCH_S = 0.5


def span(done):
    """`done`: id, trace_id, span_id, start, end, first (epoch seconds), queue_s, prefill_s, decode_s, prompt_tokens, output_tokens, max_tokens."""
    values = [
        ("gen_ai.latency.time_to_first_token", "doubleValue", done["first"] - done["start"]),
        ("gen_ai.latency.e2e", "doubleValue", done["end"] - done["start"]),
        ("gen_ai.latency.time_in_queue", "doubleValue", done["queue_s"]),
        ("gen_ai.latency.time_in_model_prefill", "doubleValue", done["prefill_s"]),
        ("gen_ai.latency.time_in_model_decode", "doubleValue", done["decode_s"]),
        ("gen_ai.latency.time_in_model_inference", "doubleValue", done["prefill_s"] + done["decode_s"]),
        ("gen_ai.usage.prompt_tokens", "intValue", str(done["prompt_tokens"])),
        ("gen_ai.usage.completion_tokens", "intValue", str(done["output_tokens"])),
        ("gen_ai.usage.cached_tokens", "intValue", str(done["cached_tokens"])),
        ("gen_ai.request.max_tokens", "intValue", str(done["max_tokens"])),
        ("gen_ai.request.id", "stringValue", f"cmpl-{done['id']}-0"),
    ]
    return {
        "traceId": done["trace_id"],
        "spanId": done["span_id"],
        "name": "llm_request",
        "kind": 2,
        "startTimeUnixNano": f"{round(done['start'] * 1e6)}000",
        "endTimeUnixNano": f"{round(done['end'] * 1e6)}000",
        "attributes": [{"key": key, "value": {kind: value}} for key, kind, value in values],
        "status": {},
    }


class SpanSender:
    def __init__(self, url, path, service="whyslow-gpu-kit"):
        self.url, self.path, self.service = url, path, service
        self.pending, self.sent, self.lost = [], 0, 0
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def add(self, done):
        with self.lock:
            self.pending.append(done)

    def _run(self):
        while not self.stop.wait(BATCH_S):
            self._flush()
        self._flush()

    def _flush(self):
        with self.lock:
            batch, self.pending = self.pending, []
        if not batch:
            return
        resource = [{"key": "service.name", "value": {"stringValue": self.service}}]
        scope = {"scope": {"name": "vllm.llm_engine"}, "spans": [span(done) for done in batch]}
        body = json.dumps({"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": [scope]}]})
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(body + "\n")
        try:
            request = urllib.request.Request(self.url, body.encode(), {"content-type": "application/json"})
            # The environment's proxies are not for loopback.
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5).read()
            self.sent += len(batch)
        except OSError:
            self.lost += len(batch)

    def close(self):
        self.stop.set()
        self.thread.join(10)
