"""Plays the regimes against the server: makes each fault for its time, and writes down what was done and what it did."""
import json
import os
import sys
import time

import truth
from loopback import fetch
from processes import Child
from regimes import REGIMES, Plan

HERE = os.path.dirname(os.path.abspath(__file__))
#: Until the client has made its texts; 0.6 s more for the many of a run of full length.
PREPARE_S = 0.4
DRAIN_S = 10.0
SPINNERS = 8
#: A fault's requests may be slow for this many of its lengths after it: what it queued has to be worked off.
RECOVER = 0.6
#: A pool does not grow because the tape ends: these last until what they queued is worked off.
UNTIL_DRAINED = ("kv_blocked", "kv_preempt")
#: The simulated node's own faults, so that its telemetry looks like the regime.
LAB_FAULTS = {
    "long_prompts": {"kind": "long_prompts", "magnitude": 14_000, "rate_per_s": 0.8},
    "arrival_burst": {"kind": "arrival_burst", "magnitude": 4},
    "context_growth": {"kind": "context_growth", "magnitude": 20},
    "bw_cotenant": {"kind": "bw_cotenant", "magnitude": 0.85},
    "kv_blocked": {"kind": "kv_full", "magnitude": 0.99},
    "kv_preempt": {"kind": "kv_full", "magnitude": 0.99},
    "cpu_starved": {"kind": "cpu_tokenize", "magnitude": 100},
}
SIMULATED_COTENANT = 3.0


class ServerPhase:
    def __init__(self, kit):
        self.kit = kit
        self.url = kit.server["url"]
        self.records = f"{kit.work}/profile_export.jsonl"
        self.manifest = {"regimes": []}
        self.used_blocks, self.book = [], {}
        self.undo, self.playing = None, False

    def fetch(self, path, body=None, timeout_s=60):
        return fetch(self.url + path, body, timeout_s)

    def run(self):
        self.kit.say("loading the model")
        about = self.fetch("/kit/load", {}, 120)
        self.manifest["model"] = about
        self.kit.say(f"{about['text']}; prefill {about['prefill_tokens_per_s']:.0f} tokens/s, decode step {about['decode_step_8_s'] * 1e3:.1f} ms")
        self.plan = Plan(about, self.kit.options.scale)
        arguments = [sys.executable, f"{HERE}/client.py", "--port", str(self.kit.server["port"]), "--out", self.records]
        self.client = Child("client", arguments, f"{self.kit.raw}/client.log", self.kit.env)
        self.client.json_line(30)
        self.warm_up()
        wanted = {*self.kit.options.regimes.split(","), "baseline"} if self.kit.options.regimes else None
        for name, fault_class, cause, text in REGIMES:
            if wanted and name not in wanted:
                continue
            if time.time() - self.kit.began > self.kit.budget_s - self.plan.lead - self.plan.fault:
                self.manifest["regimes"].append({"name": name, "skipped": "the time was over"})
                self.kit.say(f"skipped {name}")
                continue
            self.kit.say(f"regime {name}: {text}")
            about = {"name": name, "class": fault_class, "cause": cause, "text": text}
            try:
                about.update(self.regime(name))
            except Exception as error:
                # A machine with a GPU is seen once: what was recorded until here is worth keeping.
                about["error"] = f"{type(error).__name__}: {error}"
                self.kit.say(f"regime {name} failed: {error}")
                self.end_fault()
                if self.playing:
                    self.played()
            self.manifest["regimes"].append(about)
            if self.kit.server_child.process.poll() is not None:
                raise RuntimeError(f"the server ended during {name}: {self.kit.server_child.tail()}")
            self.book = self.fetch("/kit/book")
        self.fetch("/kit/quit", {})

    def warm_up(self):
        requests = [{"id": f"warm-{i}", "at": 0.05 * i, "seed": i, "words": 300, "max_tokens": 8, "cached": 0} for i in range(8)]
        self.order(requests, time.time() + 0.2, 60, phase="warmup")

    def order(self, requests, start, timeout_s, phase="profiling"):
        self.client.say(json.dumps({"start": start, "requests": requests, "phase": phase}))
        return self.client.json_line(timeout_s) if timeout_s else None

    def regime(self, name):
        fault = getattr(self, f"fault_{name}", None)
        tenant = self.tenant() if name == "bw_cotenant" and not self.kit.simulated else None
        requests = self.plan.requests(name)
        start = time.time() + PREPARE_S + 0.6 * min(1.0, self.kit.options.scale)
        self.order(requests, start, 0)
        self.playing = True
        begin = start + self.plan.lead
        self.watch_until(begin, name)
        started = time.time()
        self.undo = fault(tenant) if fault else None
        if self.kit.lab and name in LAB_FAULTS:
            fetch(f"{self.kit.addresses['controlUrl']}/fault", {**LAB_FAULTS[name], "in_s": 0, "for_s": self.plan.fault})
        self.watch_until(begin + self.plan.fault, name)
        if name not in UNTIL_DRAINED:
            self.end_fault()
        ended = time.time()
        done = self.played()
        self.drain()
        if name in UNTIL_DRAINED:
            self.end_fault()
            ended = time.time()
        window = {"start_us": int(started * 1e6), "end_us": int(ended * 1e6), "recover_us": int(RECOVER * self.plan.fault * 1e6)}
        return {**window, "tape_start_us": int(start * 1e6), **done}

    def end_fault(self):
        undo, self.undo = self.undo, None
        if undo:
            undo()

    def played(self):
        """Waits until the client has played the tape."""
        self.playing = False
        return self.client.json_line(90)

    def watch_until(self, when, name):
        """Waits; the baseline's use of the KV pool is looked at meanwhile."""
        while (left := when - time.time()) > 0:
            time.sleep(min(left, 0.25))
            if name == "baseline":
                self.used_blocks.append(self.fetch("/kit/state").get("used", 0))

    def drain(self):
        until = time.time() + DRAIN_S
        while time.time() < until and self.fetch("/kit/state")["open"] > 0:
            time.sleep(0.1)

    def tenant(self):
        child = Child("cotenant", [sys.executable, f"{HERE}/cotenant.py"], f"{self.kit.raw}/cotenant.log", self.kit.env)
        child.line(60)
        return child

    def fault_bw_cotenant(self, tenant):
        if tenant is None:
            self.fetch("/kit/control", {"slowdown": SIMULATED_COTENANT})
            return lambda: self.fetch("/kit/control", {"slowdown": 1.0})
        tenant.say("go")
        return tenant.stop

    def cut_pool(self, regime, reserve):
        busy = sorted(b for b in self.used_blocks if b > 0) or [0]
        blocks = self.plan.kv_limit(regime, busy[len(busy) // 2])
        self.fetch("/kit/control", {"kv_blocks": blocks, "reserve": reserve})
        return lambda: self.fetch("/kit/control", {"kv_blocks": 0, "reserve": False})

    def fault_kv_blocked(self, _):
        return self.cut_pool("kv_blocked", True)

    def fault_kv_preempt(self, _):
        return self.cut_pool("kv_preempt", False)

    def fault_cpu_starved(self, _):
        """All threads of the front process on one core, with processes that spin on the same one. The engine keeps the others."""
        pid, allowed = self.kit.server["pid"], os.sched_getaffinity(0)
        core = {max(allowed)}
        log = f"{self.kit.raw}/spinners.log"
        spinners = [Child("spinner", [sys.executable, f"{HERE}/spin_cpu.py"], log, self.kit.env, lines=False) for _ in range(SPINNERS)]
        for spinner in spinners:
            os.sched_setaffinity(spinner.pid, core)
        self.pin(pid, core)

        def undo():
            for spinner in spinners:
                spinner.stop(1)
            self.pin(pid, allowed)

        return undo

    @staticmethod
    def pin(pid, cores):
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                os.sched_setaffinity(int(thread), cores)
            except ProcessLookupError:
                pass

    def write_truth(self):
        """Of what was recorded, be it all or a part."""
        if not os.path.exists(self.records):
            return
        windows = [w for w in self.manifest["regimes"] if "start_us" in w]
        labelled = truth.labels(truth.read_records(self.records), self.book, windows)
        with open(f"{self.kit.work}/labels.json", "w", encoding="utf-8") as file:
            json.dump({"name": "gpu-kit", "family": "gpu_kit", "simulated": self.kit.simulated, "faults": windows, **labelled}, file)
