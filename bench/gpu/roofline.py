"""Stands in for the GPU where there is none: sleeps as long as a roofline says a step takes, and samples made-up tokens."""
import time

BANDWIDTH = 4.0e12
FLOPS = 450e12
LAUNCH_S = 0.0015
#: The transformer's attention gathers KV blocks before it reads them: read, written, read.
KV_TRAFFIC = 3


class RooflineModel:
    simulated = True

    def __init__(self, layers=16, hidden=8192, ffn=28_672, kv_heads=8, head=128):
        self.weights = layers * (2 * hidden * hidden + 2 * hidden * kv_heads * head + 3 * hidden * ffn)
        self.kv_bytes = layers * 2 * kv_heads * head * 2
        self.pool_blocks = 50_000
        # A co-tenant that takes memory bandwidth; 1 = none.
        self.slowdown = 1.0
        self.next_token = 0

    def describe(self):
        return {
            "kind": "simulated",
            "text": "no GPU or no PyTorch: steps are sleeps by a roofline of 4.0 TB/s and 450 TFLOP/s",
            "weights_bytes": self.weights * 2,
            "kv_bytes_per_token": self.kv_bytes,
        }

    def seconds(self, work):
        tokens = sum(w.count for w in work)
        context = sum(w.start + w.count for w in work)
        memory = (2 * self.weights + context * self.kv_bytes * KV_TRAFFIC) / BANDWIDTH * self.slowdown
        return LAUNCH_S + max(memory, 2 * self.weights * tokens / FLOPS)

    def step(self, work):
        time.sleep(self.seconds(work))
        tokens = []
        for w in work:
            if w.samples:
                self.next_token = (self.next_token * 1_103_515_245 + 12_345) % 2_147_483_648
                tokens.append(self.next_token >> 8)
        return tokens

    def forget(self, seq):
        pass
