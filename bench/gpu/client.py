"""The load generator: plays a schedule of requests and appends AIPerf's per-request records.

Reads one JSON object a line: {"start": epoch seconds, "requests": [{"id", "at", "seed", "words", "max_tokens", "cached"}]}; prints one line
of JSON when all of them have ended. Text is made before the start, so that the client is idle while it waits.
"""
import argparse
import asyncio
import json
import random
import sys
import time

from words import Words

TIMEOUT_S = 60


def metric(value, unit):
    return {"value": value, "unit": unit}


def record(plan, number, phase, start_ns, first_ns, end_ns, stamps, usage, error):
    """AIPerf's record. Times are the wall clock's, durations the monotonic clock's."""
    metrics = {}
    if usage:
        gaps = [round((b - a) / 1e6, 3) for a, b in zip(stamps, stamps[1:])]
        latency, count = (end_ns - start_ns) / 1e6, usage["completion_tokens"]
        ttft = (first_ns - start_ns) / 1e6
        metrics = {
            "input_sequence_length": metric(usage["prompt_tokens"], "tokens"),
            "output_sequence_length": metric(count, "tokens"),
            "output_token_count": metric(count, "tokens"),
            "time_to_first_token": metric(round(ttft, 4), "ms"),
            "request_latency": metric(round(latency, 4), "ms"),
            "inter_token_latency": metric(round((latency - ttft) / max(1, count - 1), 4), "ms"),
            "inter_chunk_latency": metric(gaps, "ms"),
        }
    metadata = {
        "session_num": number,
        "x_request_id": plan["id"],
        "x_correlation_id": plan["id"],
        "conversation_id": plan["id"],
        "turn_index": 0,
        "credit_issued_ns": plan["due_ns"],
        "request_start_ns": plan["wall_ns"],
        "request_ack_ns": plan["wall_ns"] + (first_ns - start_ns) if first_ns else None,
        "request_end_ns": plan["wall_ns"] + (end_ns - start_ns),
        "worker_id": "worker_0",
        "record_processor_id": "record_processor_0",
        "benchmark_phase": phase,
        "was_cancelled": False,
        "cancellation_time_ns": None,
    }
    return {"metadata": metadata, "metrics": metrics, "error": error}


async def send(port, plan, prompt):
    """Gives (start, first, end, stamps, usage): monotonic ns, from before the connection to its end."""
    body = {"prompt": prompt, "max_tokens": plan["max_tokens"], "stream": True, "cached_tokens": plan.get("cached", 0)}
    data = json.dumps(body).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-request-id: {plan['id']}\r\ncontent-length: {len(data)}\r\n\r\n"
    plan["wall_ns"], start = time.time_ns(), time.monotonic_ns()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head.encode() + data)
        status = await reader.readline()
        if b" 200 " not in status:
            raise OSError(status.decode("latin-1").strip() or "closed without an answer")
        stamps, usage = [], None
        while line := await reader.readline():
            if not line.startswith(b"data: {"):
                continue
            stamps.append(time.monotonic_ns())
            if b'"usage"' in line:
                usage = json.loads(line[6:])["usage"]
        if usage is None:
            raise OSError("the stream broke off")
        return start, stamps[0], time.monotonic_ns(), stamps, usage
    finally:
        writer.close()


class Client:
    def __init__(self, port, path):
        self.port, self.path, self.words, self.texts, self.number = port, path, Words(), {}, 0

    def text(self, plan):
        key = (plan["seed"], plan["words"])
        if key not in self.texts:
            self.texts[key] = self.words.text(random.Random(plan["seed"]), plan["words"])
        return self.texts[key]

    async def one(self, plan, start, phase, file):
        due = start + plan["at"]
        await asyncio.sleep(max(0.0, due - time.time()))
        plan["due_ns"] = int(due * 1e6) * 1000
        number, self.number = self.number, self.number + 1
        try:
            result = await asyncio.wait_for(send(self.port, plan, self.text(plan)), TIMEOUT_S)
            line = record(plan, number, phase, *result, None)
        except (OSError, asyncio.TimeoutError) as error:
            now = time.monotonic_ns()
            began = now - (time.time_ns() - plan.setdefault("wall_ns", time.time_ns()))
            failure = {"code": None, "type": type(error).__name__, "message": str(error)}
            line = record(plan, number, phase, began, 0, now, [], None, failure)
        file.write(json.dumps(line, separators=(",", ":")) + "\n")
        return line["error"] is None

    async def play(self, order):
        for plan in order["requests"]:
            self.text(plan)
        with open(self.path, "a", encoding="utf-8") as file:
            phase = order.get("phase", "profiling")
            done = await asyncio.gather(*(self.one(plan, order["start"], phase, file) for plan in order["requests"]))
        return {"requests": len(done), "failed": done.count(False), "end": time.time()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    client = Client(options.port, options.out)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(asyncio.run(client.play(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
