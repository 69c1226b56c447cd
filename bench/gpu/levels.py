"""Short loads of known causes with quiet gaps between them, marked on the wall clock (Unix µs) as JSON lines.

    python3 levels.py --out FILE [--scale S] [--simulate]

Simulated, the loads are pauses: marks and order are the same, the GPU does nothing.
"""
import argparse
import json
import time

GAP_S = 1.0
#: name, seconds, method of Loads, its arguments, what it stands for
PLAN = [
    ("idle", 4.0, None, (), "nothing: no CUDA context of ours"),
    ("resident", 2.5, "resident", (), "weights in memory, no work"),
    ("gemm", 2.5, "gemm", (), "large matrix products: prefill"),
    ("stream_1", 2.5, "stream", (1,), "weights read for one token: decode, batch 1"),
    ("stream_8", 2.5, "stream", (8,), "decode, batch 8"),
    ("stream_64", 2.5, "stream", (64,), "decode, batch 64"),
    ("kv_gather", 2.5, "gather", (), "scattered reads of KV blocks"),
    ("copy", 2.5, "copy", (), "device memory copied to device memory"),
    ("spin_16", 2.5, "spin", (16,), "16 blocks that wait, as a collective does"),
    ("spin_32", 2.5, "spin", (32,), "32 blocks that wait"),
    ("tiny", 2.5, "tiny", (), "kernels shorter than their launch"),
    ("host_to_device", 2.5, "host_to_device", (), "pinned transfers to the device"),
    ("device_to_host", 2.5, "host_to_device", (True,), "pinned transfers from the device"),
    ("starved", 2.5, "starved", (), "host busy between steps"),
]
#: Longer than the one second over which NVML says it averages: a shorter step would never be seen whole.
STEPS, STEP_S = 3, 1.6


def now_us():
    return time.time_ns() // 1000


class Marks:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")

    def write(self, kind, start_us, end_us, **more):
        self.file.write(json.dumps({"kind": kind, "start_us": start_us, "end_us": end_us, **more}) + "\n")
        self.file.flush()


def play(marks, loads, scale):
    """`loads`: a Loads, or None to play the pauses alone."""
    for name, seconds, method, arguments, text in PLAN:
        more = {"name": name, "text": text, "ran": loads is not None or method is None}
        load = None
        if loads is not None and method == "resident":
            more["bytes"] = loads.resident()
        elif loads is not None and method is not None:
            load = getattr(loads, method)(*arguments)
            load.queue()
            settle(loads)
            time.sleep(GAP_S * scale)
        start = now_us()
        if load is None:
            time.sleep(seconds * scale)
        else:
            achieved = load.run(seconds * scale)
            more.update({"achieved": achieved, "unit": load.unit, "how": load.how})
        marks.write("regime", start, now_us(), **more)
        load = None
        settle(loads)
        time.sleep(GAP_S * scale)
    load = loads.gemm() if loads is not None else None
    for _ in range(STEPS):
        start = now_us()
        if load is None:
            time.sleep(STEP_S * scale)
        else:
            load.run(STEP_S * scale)
        marks.write("step", start, now_us(), name="gemm", ran=load is not None)
        time.sleep(STEP_S * scale)


def settle(loads):
    """What a load held goes back, so that the next one starts from the same state."""
    if loads is None:
        return
    import torch

    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--simulate", action="store_true")
    options = parser.parse_args()
    marks = Marks(options.out)
    if options.simulate:
        play(marks, None, options.scale)
        return
    # Before the first CUDA call: the GPU without a context of ours.
    start = now_us()
    time.sleep(PLAN[0][1] * options.scale)
    marks.write("regime", start, now_us(), name=PLAN[0][0], text=PLAN[0][4], ran=True)
    from gpu_work import Loads

    loads = Loads()
    PLAN.pop(0)
    time.sleep(GAP_S * options.scale)
    play(marks, loads, options.scale)


if __name__ == "__main__":
    main()
