"""What the machine is: for the manifest."""
import json
import os
import platform
import sys

from raw_output import once

PROBE = """
import json
try:
    import torch
    ok = torch.cuda.is_available()
    about = {"torch": torch.__version__, "cuda": torch.version.cuda, "gpu": torch.cuda.get_device_name(0) if ok else None}
    if ok:
        p = torch.cuda.get_device_properties(0)
        about.update(memory_bytes=p.total_memory, multiprocessors=p.multi_processor_count, capability=[p.major, p.minor])
except Exception as error:
    about = {"torch": None, "why": f"{type(error).__name__}: {error}"}
try:
    import triton
    about["triton"] = triton.__version__
except Exception:
    about["triton"] = None
print(json.dumps(about))
"""


def probe_torch(env):
    """In a process of its own: the kit itself never holds a CUDA context."""
    status, text = once([sys.executable, "-c", PROBE], env, 90)
    try:
        return json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {"torch": None, "why": f"the probe ended with status {status}"}


def describe(env, root):
    kit = {}
    if os.path.exists(f"{root}/kit.json"):
        with open(f"{root}/kit.json", encoding="utf-8") as file:
            kit = json.load(file)
    fields = "name,driver_version,memory.total,power.limit,power.default_limit,clocks.max.sm,clocks.max.mem"
    gpu = once(["nvidia-smi", f"--query-gpu={fields}", "--format=csv"], env)
    return {
        "kit": kit,
        "nvidia_smi": {"status": gpu[0], "output": gpu[1].strip().splitlines()[-2:]},
        "kernel": platform.platform(),
        "machine": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }
