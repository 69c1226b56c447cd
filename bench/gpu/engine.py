"""The engine process: takes requests over a pipe, runs steps, sends back tokens and its state. Started by server.py."""
import statistics
import time
from array import array
from collections import deque

from scheduler import Scheduler, Sequence, Work

#: Few, so that the median follows a load that changes within a second.
PURE_STEPS = 15


def make_model(simulate):
    if simulate:
        from roofline import RooflineModel

        return RooflineModel()
    from transformer import TransformerModel

    return TransformerModel()


def _probe(model, sequences, count, start):
    """Seconds of one step over `count` tokens of each sequence: the least of three."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        model.step([Work(seq, start, count) for seq in sequences])
        times.append(time.perf_counter() - began)
    return min(times)


def calibrate(model):
    """Speed of a full prefill chunk and of small decode batches, on throw-away sequences. Also warms the kernels up."""
    blocks = iter(range(model.pool_blocks))
    sequences = []
    for i in range(8):
        seq = Sequence(f"warm-{i}", [7 + i] * 2048, 1, 0, 0.0)
        seq.blocks = [next(blocks) for _ in range(128)]
        sequences.append(seq)
    for seq in sequences:
        _probe(model, [seq], 64, 0)
    prefill_s = _probe(model, sequences[:1], 2048, 0)
    one_s, eight_s = _probe(model, sequences[:1], 1, 1023), _probe(model, sequences, 1, 1023)
    for seq in sequences:
        model.forget(seq)
    return {"prefill_tokens_per_s": 2048 / prefill_s, "decode_step_1_s": one_s, "decode_step_8_s": eight_s}


class Engine:
    def __init__(self, connection, simulate):
        self.connection = connection
        self.simulate = simulate
        self.model = self.scheduler = None
        self.pure = deque(maxlen=PURE_STEPS)
        self.open = True
        self.steps = 0

    def load(self):
        began = time.perf_counter()
        self.model = make_model(self.simulate)
        speed = calibrate(self.model)
        self.scheduler = Scheduler(self.model.pool_blocks)
        self.pure.append(speed["decode_step_8_s"])
        about = {**self.model.describe(), **speed, "pool_blocks": self.model.pool_blocks, "load_s": time.perf_counter() - began}
        self.connection.send({"loaded": about})

    def take(self, message):
        kind = message["kind"]
        if kind == "load":
            self.load()
        elif kind == "quit":
            self.open = False
        elif kind == "control":
            self.control(message)
        else:
            seq = Sequence(message["id"], array("H", message["tokens"]), message["max_tokens"], message["cached"], message["at"])
            if self.scheduler.too_long(seq):
                self.connection.send({"refused": seq.id})
            else:
                self.scheduler.waiting.append(seq)

    def control(self, message):
        if "kv_blocks" in message:
            wanted = message["kv_blocks"] or self.scheduler.total_blocks
            self.scheduler.limit = min(wanted, self.scheduler.total_blocks)
        if "reserve" in message:
            self.scheduler.reserve = message["reserve"]
        if "slowdown" in message and self.simulate:
            self.model.slowdown = message["slowdown"]

    def stats(self):
        s = self.scheduler
        return {
            "running": len(s.running),
            "waiting": len(s.waiting),
            "usage": s.usage,
            "used": s.used,
            "blocks": s.total_blocks,
            "preemptions": s.preemptions,
            "steps": self.steps,
        }

    def step(self):
        s = self.scheduler
        began = time.time()
        work = s.plan(began)
        if not work:
            # A pool that was cut below the need of the oldest request: it waits until the pool grows again.
            time.sleep(0.005)
            s.account([], time.time() - began, 0.0)
            return
        tokens = self.model.step(work)
        ended = time.time()
        seconds = ended - began
        if all(w.count == 1 for w in work):
            self.pure.append(seconds)
        s.account(work, seconds, min(seconds, statistics.median(self.pure)))
        produced = s.finish_step(work, tokens, ended)
        self.steps += 1
        out = []
        for seq, token in produced:
            out.append((seq.id, token, self.finished(seq, ended) if seq.done else None))
        self.connection.send({"at": ended, "seconds": seconds, "tokens": sum(w.count for w in work), "out": out, "stats": self.stats()})

    def finished(self, seq, now):
        self.model.forget(seq)
        return {
            "scheduled": seq.scheduled_s,
            "first": seq.first_s,
            "last": now,
            "preempted": seq.preempted,
            "booked": seq.booked,
            "booked_ttft": seq.booked_ttft,
        }

    def run(self):
        while self.open:
            busy = self.scheduler is not None and (self.scheduler.running or self.scheduler.waiting)
            while self.open and self.connection.poll(0 if busy else 0.2):
                self.take(self.connection.recv())
                busy = True
            if self.open and self.scheduler is not None and (self.scheduler.running or self.scheduler.waiting):
                self.step()


def main(connection, simulate):
    try:
        Engine(connection, simulate).run()
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass
