"""A small real inference server: this process speaks HTTP and tokenizes, a second one runs the engine.

    python3 server.py --port N --otlp URL --spans FILE [--simulate]

POST /v1/completions {"prompt", "max_tokens", "stream": true, "cached_tokens"}; GET /metrics, /kit/state, /kit/book;
POST /kit/load, /kit/control {"kv_blocks", "reserve", "slowdown"}, /kit/quit.
"""
import argparse
import asyncio
import json
import multiprocessing
import os
import random
import time
import uuid
from array import array

import engine
from bpe import train_on
from metrics_page import Metrics
from spans import SpanSender
from words import Words

MODEL = "whyslow-kit"
CONTEXT_TOKEN = array("H", [32])


class Request:
    def __init__(self, request_id, received, max_tokens, cached):
        self.id, self.received, self.max_tokens, self.cached = request_id, received, max_tokens, cached
        self.queue = asyncio.Queue()
        self.prompt_tokens = 0
        self.enqueued = self.first_written = self.last_written = 0.0


class Server:
    def __init__(self, options, connection, engine_pid):
        self.connection, self.engine_pid = connection, engine_pid
        self.encoder = None
        self.metrics = Metrics(MODEL)
        self.spans = SpanSender(options.otlp, options.spans)
        self.requests, self.book = {}, {}
        self.about, self.loaded, self.quit = {}, asyncio.Event(), asyncio.Event()
        self.ids = random.Random(9)

    def on_engine(self):
        """All messages that are there: tokens to their streams, state to the page."""
        while self.connection.poll():
            try:
                message = self.connection.recv()
            except EOFError:
                self.quit.set()
                asyncio.get_running_loop().remove_reader(self.connection.fileno())
                return
            if "loaded" in message:
                self.about = message["loaded"]
                self.metrics.stats["blocks"] = self.about["pool_blocks"]
                self.loaded.set()
            elif "refused" in message:
                self.requests[message["refused"]].queue.put_nowait(None)
            else:
                self.take_step(message)

    def take_step(self, message):
        self.metrics.stats = message["stats"]
        self.metrics.counters["num_preemptions"] = message["stats"]["preemptions"]
        self.metrics.counters["generation_tokens"] += len(message["out"])
        self.metrics.observe("iteration_tokens_total", message["tokens"])
        for request_id, token, done in message["out"]:
            request = self.requests.get(request_id)
            if request is not None:
                request.queue.put_nowait((token, message["at"], done))

    async def complete(self, headers, body, writer):
        received = time.time()
        given = json.loads(body)
        request = Request(headers.get("x-request-id") or str(uuid.uuid4()), received, int(given["max_tokens"]), int(given.get("cached_tokens", 0)))
        # A session that comes back: its context is in the KV pool and its tokens are known, only what is new is tokenized.
        tokens = CONTEXT_TOKEN * request.cached + array("H", self.encoder.encode(given["prompt"]))
        request.prompt_tokens = len(tokens)
        request.enqueued = time.time()
        self.requests[request.id] = request
        message = {"kind": "request", "id": request.id, "tokens": tokens.tobytes(), "max_tokens": request.max_tokens, "cached": request.cached}
        self.connection.send({**message, "at": received})
        try:
            await self.stream(request, writer)
        finally:
            del self.requests[request.id]

    async def stream(self, request, writer):
        count, before = 0, 0.0
        while True:
            item = await request.queue.get()
            if item is None:
                writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                return
            token, _, done = item
            now = time.time()
            if count == 0:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
                request.first_written = now
                self.metrics.observe("time_to_first_token_seconds", now - request.received)
                cached = min(request.cached, request.prompt_tokens - 1)
                self.metrics.counters["prompt_tokens"] += request.prompt_tokens
                self.metrics.counters["prefix_cache_queries"] += request.prompt_tokens
                self.metrics.counters["prefix_cache_hits"] += cached
            else:
                self.metrics.observe("inter_token_latency_seconds", now - before)
            count, before = count + 1, now
            text = self.encoder.decode([token % self.encoder.size])
            event = {"id": f"cmpl-{request.id}", "object": "text_completion", "model": MODEL, "choices": [{"index": 0, "text": text}]}
            if done is not None:
                event["choices"][0]["finish_reason"] = "length"
                event["usage"] = {"prompt_tokens": request.prompt_tokens, "completion_tokens": count}
            writer.write(f"data: {json.dumps(event)}\n\n".encode())
            if done is not None:
                writer.write(b"data: [DONE]\n\n")
                await writer.drain()
                self.finish(request, count, done, time.time())
                return

    def finish(self, request, count, done, now):
        queue_s = done["scheduled"] - request.enqueued
        prefill_s, decode_s = done["first"] - done["scheduled"], done["last"] - done["first"]
        self.metrics.success += 1
        self.metrics.observe("e2e_request_latency_seconds", now - request.received)
        self.metrics.observe("request_queue_time_seconds", queue_s)
        self.metrics.observe("request_prefill_time_seconds", prefill_s)
        self.metrics.observe("request_decode_time_seconds", decode_s)
        front_first = (request.enqueued - request.received) + (request.first_written - done["first"])
        front_all = (request.enqueued - request.received) + (now - done["last"])
        self.book[request.id] = {
            "ttft": {**done["booked_ttft"], "cpu_tokenization": front_first},
            "e2e": {**done["booked"], "cpu_tokenization": front_all},
            "preempted": done["preempted"],
        }
        self.spans.add(
            {
                "id": request.id,
                "trace_id": f"{self.ids.getrandbits(128):032x}",
                "span_id": f"{self.ids.getrandbits(64):016x}",
                "start": request.received,
                "first": request.first_written,
                "end": now,
                "queue_s": max(0.0, queue_s),
                "prefill_s": prefill_s,
                "decode_s": decode_s,
                "prompt_tokens": request.prompt_tokens,
                "output_tokens": count,
                "cached_tokens": min(request.cached, request.prompt_tokens - 1),
                "max_tokens": request.max_tokens,
            }
        )

    async def answer(self, method, path, headers, body, writer):
        if path == "/v1/completions":
            await self.complete(headers, body, writer)
            return
        status, kind, text = "200 OK", "application/json", "{}"
        if path == "/metrics":
            kind, text = "text/plain; version=0.0.4; charset=utf-8", self.metrics.page()
        elif path == "/kit/state":
            text = json.dumps({**self.metrics.stats, "open": len(self.requests), "about": self.about})
        elif path == "/kit/book":
            text = json.dumps(self.book)
        elif path == "/kit/load":
            self.connection.send({"kind": "load"})
            # Here and not at the start: the agent is told of this process before anything else happens.
            self.encoder = self.encoder or train_on(Words())
            await self.loaded.wait()
            text = json.dumps(self.about)
        elif path == "/kit/control":
            self.connection.send({"kind": "control", **json.loads(body)})
        elif path == "/kit/quit":
            self.quit.set()
        else:
            status = "404 Not Found"
        data = text.encode()
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + data)

    async def on_connection(self, reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path = head[0].split(" ")[:2]
            headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            await self.answer(method, path, headers, body, writer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def serve(options, connection, engine_pid):
    server = Server(options, connection, engine_pid)
    asyncio.get_running_loop().add_reader(connection.fileno(), server.on_engine)
    listener = await asyncio.start_server(server.on_connection, "127.0.0.1", options.port, limit=1 << 20, backlog=512)
    port = listener.sockets[0].getsockname()[1]
    print(json.dumps({"port": port, "pid": os.getpid(), "engine_pid": engine_pid}), flush=True)
    await server.quit.wait()
    listener.close()
    server.spans.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--otlp", default="http://127.0.0.1:4318/v1/traces")
    parser.add_argument("--spans", default="spans.jsonl")
    parser.add_argument("--simulate", action="store_true")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    worker = context.Process(target=engine.main, args=(far, options.simulate), daemon=True)
    worker.start()
    far.close()
    try:
        asyncio.run(serve(options, near, worker.pid))
        near.send({"kind": "quit"})
        worker.join(10)
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        if worker.is_alive():
            worker.terminate()


if __name__ == "__main__":
    main()
