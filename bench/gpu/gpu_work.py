"""Loads of one known kind for the GPU, in plain PyTorch. Each gives a function that queues a few milliseconds of work."""
import time

import torch

#: Queue at most this much before waiting for it, so that a load ends when it is told to.
QUEUE_S = 0.03
SPIN = """
template <typename T> T spin(T x, T cycles) {
  long long start = clock64();
  while (clock64() - start < (long long)cycles) {}
  return x;
}
"""
#: PyTorch's element-wise kernels: blocks of 128 threads, each of which takes these one after the other.
ELEMENTS_PER_THREAD = 4
BLOCK_ELEMENTS = 128 * ELEMENTS_PER_THREAD
SPIN_S = 0.01


class Load:
    """`queue()` queues one unit of work; `per_unit` says how much it is, `unit` of what."""

    def __init__(self, queue, per_unit=0.0, unit=None, how=None, pause_s=0.0):
        self.queue, self.per_unit, self.unit, self.how, self.pause_s = queue, per_unit, unit, how, pause_s

    def run(self, seconds):
        """Works for `seconds`; gives units a second, or None where there is nothing to count."""
        began, units, batch = time.perf_counter(), 0, 1
        while (elapsed := time.perf_counter() - began) < seconds:
            at = time.perf_counter()
            for _ in range(batch):
                self.queue()
            torch.cuda.synchronize()
            took = time.perf_counter() - at
            units += batch
            if self.pause_s:
                time.sleep(self.pause_s)
            elif took < QUEUE_S / 2:
                batch = min(batch * 2, 4096)
            elif took > QUEUE_S * 2 and batch > 1:
                batch //= 2
        return self.per_unit * units / elapsed if self.unit else None


class Loads:
    def __init__(self):
        self.device = torch.device("cuda")
        self.free = torch.cuda.mem_get_info()[0]
        self.weights = []

    def _half(self, *shape):
        return torch.empty(*shape, device=self.device, dtype=torch.bfloat16).normal_(0.0, 0.02)

    def resident(self):
        """Weights as a server holds them: up to 8 GB, at most a third of what is free."""
        rows, columns = 8192, 28_672
        count = max(2, int(min(8e9, self.free / 3) / (2 * rows * columns)))
        self.weights = [self._half(rows, columns) for _ in range(count)]
        return 2 * rows * columns * count

    def gemm(self):
        a, b = self._half(8192, 8192), self._half(8192, 8192)
        return Load(lambda: torch.mm(a, b), 2 * 8192**3, "FLOP/s")

    def stream(self, batch):
        x, state = self._half(batch, 8192), [0]

        def queue():
            state[0] = (state[0] + 1) % len(self.weights)
            torch.mm(x, self.weights[state[0]])

        return Load(queue, 2 * 8192 * 28_672, "B/s")

    def gather(self):
        """Blocks of a KV pool in random order, as paged attention reads them, and a sum over each."""
        blocks = int(min(4e9, self.free / 8) / (2 * 16 * 1024))
        pool = torch.zeros(blocks, 16 * 1024, device=self.device, dtype=torch.bfloat16)
        order = torch.randperm(blocks, device=self.device)[: blocks // 4]
        return Load(lambda: pool.index_select(0, order).sum(dim=1), len(order) * 2 * 16 * 1024 * 3, "B/s")

    def copy(self):
        source = torch.zeros(int(min(2e9, self.free / 8)), device=self.device, dtype=torch.uint8)
        target = torch.empty_like(source)
        return Load(lambda: target.copy_(source), 2 * source.numel(), "B/s")

    def spin(self, blocks):
        """`blocks` thread blocks that wait without memory traffic. NVRTC where it works, else one-thread kernels on as many streams."""
        hertz = 1e3 * getattr(torch.cuda.get_device_properties(0), "clock_rate", 1.7e6)
        cycles = SPIN_S * hertz
        try:
            spin = torch.cuda.jiterator._create_jit_fn(SPIN, cycles=0.0)
            x = torch.zeros(blocks * BLOCK_ELEMENTS, device=self.device, dtype=torch.float64)
            spin(x, cycles=1.0)
            torch.cuda.synchronize()
            how = f"jiterator (NVRTC), {x.numel()} elements: {blocks} blocks of 128 threads"
            return Load(lambda: spin(x, cycles=cycles / ELEMENTS_PER_THREAD), 1, "kernels/s", how)
        except Exception as error:
            streams = [torch.cuda.Stream() for _ in range(blocks)]

            def queue():
                for stream in streams:
                    with torch.cuda.stream(stream):
                        torch.cuda._sleep(int(cycles))

            how = f"torch.cuda._sleep, one thread on each of {blocks} streams (no NVRTC: {type(error).__name__}: {error})"
            return Load(queue, 1, "kernels/s", how[:300])

    def tiny(self):
        x = torch.zeros(1, device=self.device)
        return Load(lambda: x.add_(1.0), 1, "kernels/s")

    def host_to_device(self, back=False):
        host = torch.empty(256 << 20, dtype=torch.uint8, pin_memory=True)
        device = torch.empty(256 << 20, dtype=torch.uint8, device=self.device)
        pair = (host, device) if back else (device, host)
        return Load(lambda: pair[0].copy_(pair[1], non_blocking=True), host.numel(), "B/s")

    def starved(self):
        """A step of some milliseconds, then the host is busy with something else for longer."""
        a, b = self._half(4096, 4096), self._half(4096, 4096)

        def queue():
            for _ in range(8):
                torch.mm(a, b)

        return Load(queue, 1, "steps/s", how="8 products of 4096, then 8 ms on the host", pause_s=0.008)
