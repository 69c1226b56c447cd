"""Levels of known loads, then a small real server with known faults, all of it watched by the real agent.

    python3 kit.py --out DIR [--node NODE] [--app DIST] [--scale S] [--regimes A,B] [--simulate]

Needs Python 3.9 and, for the real thing, PyTorch with a GPU and nvidia-smi; without them the compute is simulated and the manifest says so.
Loopback only; no clock, power or other setting is touched. Ends everything that it started.
"""
import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time

import environment
import raw_output
import results
from loopback import free_port
from processes import Child
from server_phase import ServerPhase

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = "gpu-kit"
NODE_NAME = "gpu-kit"
#: No regime is begun that would not end its fault within this many seconds.
BUDGET_S = 300.0
#: Pauses that stand for loads need not be as long.
SIMULATED_LEVELS = 0.25
#: Seconds of a run at scale 1, for WHYSLOW_KIT_SECONDS.
FULL_S = 285.0


class Kit:
    def __init__(self, options):
        self.options = options
        self.began, self.budget_s = time.time(), BUDGET_S
        self.work = tempfile.mkdtemp(prefix="whyslow-kit-")
        self.raw = f"{self.work}/raw"
        os.mkdir(self.raw)
        self.env = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        self.lab = self.agent = self.failed = None
        self.server = {}
        self.recorders = []
        self.manifest = {"run": RUN, "scale": options.scale, "phases": {}}

    def say(self, text):
        print(f"kit: {time.time() - self.began:6.1f} s  {text}", flush=True)

    def phase(self, name):
        self.manifest["phases"][name] = round(time.time() - self.began, 3)

    def app(self, script):
        return [self.options.node, f"{self.options.app}/{script}"]

    def whyslow(self, *arguments, out=None):
        """One command of the product; its failure is the kit's."""
        command = [*self.app("src/cli/whyslow.js"), *arguments, "--db", f"{self.work}/agent.db"]
        child = Child(f"whyslow {arguments[0]}", command, f"{self.raw}/kit.log", self.env)
        lines, file = [], open(out, "w", encoding="utf-8") if out else None
        while (line := child.queue.get(timeout=120)) is not None:
            file.write(line + "\n") if file else lines.append(line)
        status = child.wait(10)
        child.stop()
        if file:
            file.close()
        if status != 0:
            raise RuntimeError(f"whyslow {' '.join(arguments)} ended with status {status}: {child.tail()}")
        return lines

    def look_around(self):
        torch = environment.probe_torch(self.env)
        smi = raw_output.once(["nvidia-smi", "-L"], self.env)
        real = torch.get("gpu") is not None and smi[0] == 0 and not self.options.simulate
        why = None
        if not real:
            why = "asked for" if self.options.simulate else "no GPU for PyTorch" if torch.get("gpu") is None else "no nvidia-smi"
            self.lab = Child("lab", [*self.app("lab/lab-main.js"), json.dumps({"seed": 7, "gpus": 1})], f"{self.raw}/lab.log", self.env)
            self.addresses = self.lab.json_line(30)
            self.env["PATH"] = f"{self.addresses['binDir']}{os.pathsep}{self.env.get('PATH', '')}"
        self.simulated = not real
        self.manifest.update(simulated=not real, simulated_because=why, torch=torch, machine=environment.describe(self.env, self.options.root))
        self.say(f"GPU {torch['gpu']}" if real else f"SIMULATED ({why}): the compute step is a sleep, telemetry is the lab's fake nvidia-smi")
        raw_output.inventory(self.raw, self.env)

    def start_server(self, otlp_port):
        extra = ["--simulate"] if self.simulated else []
        spans = f"{self.raw}/spans.otlp.jsonl"
        arguments = [sys.executable, f"{HERE}/server.py", "--otlp", f"http://127.0.0.1:{otlp_port}/v1/traces", "--spans", spans, *extra]
        self.server_child = Child("server", arguments, f"{self.raw}/server.log", self.env)
        self.server = self.server_child.json_line(60)
        self.server["url"] = f"http://127.0.0.1:{self.server['port']}"

    def start_agent(self, otlp_port):
        config = {
            "node": NODE_NAME,
            "listen": {"http": "127.0.0.1:0", "otlp_grpc": "off", "otlp_http": f"127.0.0.1:{otlp_port}"},
            "collectors": {
                "dcgm-exporter": {"enabled": False},
                "nvidia-smi-query": {"interval": "100ms"},
                "nvidia-smi-dmon": {"interval": "1s"},
                "server-metrics": {"interval": "200ms"},
                "host": {"interval": "200ms"},
                "server-processes": {"interval": "200ms"},
                "cgroup": {"interval": "500ms"},
            },
            "servers": [{"name": "kit", "url": self.server["url"], "engine": "vllm", "pids": [self.server["pid"], self.server["engine_pid"]]}],
            "log": {"level": "info"},
        }
        path = f"{self.raw}/agent.json"
        results.write_json(path, config)
        arguments = [*self.app("src/cli/whyslow.js"), "agent", "--config", path, "--db", f"{self.work}/agent.db"]
        log = f"{self.raw}/agent.log"
        self.agent = Child("agent", arguments, log, self.env, lines=False)
        until = time.time() + 40
        while "OTLP/HTTP" not in self.agent.tail(20_000):
            if time.time() > until or self.agent.process.poll() is not None:
                raise RuntimeError(f"the agent did not start: {self.agent.tail()}")
            time.sleep(0.1)

    def levels(self):
        extra = ["--simulate"] if self.simulated else []
        scale = self.options.scale * (SIMULATED_LEVELS if self.simulated else 1)
        probe = None
        if not self.simulated:
            probe = Child("probe", [sys.executable, f"{HERE}/nvml_probe.py", "--out", f"{self.raw}/nvml.jsonl"], f"{self.raw}/probe.log", self.env)
        arguments = [sys.executable, f"{HERE}/levels.py", "--out", f"{self.work}/levels.jsonl", "--scale", str(scale), *extra]
        child = Child("levels", arguments, f"{self.raw}/levels.log", self.env)
        status = child.wait(100 * scale + 60)
        child.stop()
        if probe:
            probe.stop()
        self.manifest["levels"] = {"status": status, "error": child.tail() if status else None}
        if status:
            self.say(f"levels ended with status {status}; going on with the server")

    def record(self):
        # First the server, so that the agent knows its processes; it touches the GPU only when it is told to load.
        otlp_port = free_port()
        self.start_server(otlp_port)
        self.start_agent(otlp_port)
        self.recorders = raw_output.recorders(self.raw, self.env)
        self.whyslow("run", "start", RUN)
        self.phase("levels")
        self.say("levels of known loads")
        self.levels()
        self.phase("server")
        phase = ServerPhase(self)
        try:
            phase.run()
        except Exception as error:
            # What was recorded is kept and judged all the same.
            self.failed = f"{type(error).__name__}: {error}"
            self.say(f"the server's part failed: {self.failed}")
        phase.write_truth()
        self.manifest["server"] = phase.manifest
        self.phase("end")
        time.sleep(1.5)
        self.whyslow("run", "stop", RUN)
        for recorder in self.recorders:
            recorder.stop()
        self.recorders = []
        self.server_child.stop()
        self.agent.stop(15)

    def judge(self):
        """What the product says of the run, and how that fits the truth. The recording is kept even where this fails."""
        try:
            self.whyslow("import", RUN, f"{self.work}/profile_export.jsonl", "--node", NODE_NAME)
            self.whyslow("correlate", RUN, "--json", out=f"{self.work}/report.json")
        except Exception as error:
            self.manifest["report_error"] = str(error)
            self.say(f"no report: {error}")
        for name, script, arguments in (
            ("analysis", "bench/gpu/analyse-levels.js", [self.work]),
            ("score", "bench/gpu/score-run.js", [self.work]),
        ):
            status, text = raw_output.once([*self.app(script), *arguments], self.env, 60)
            self.manifest[name] = json.loads(text) if status == 0 else {"error": text[-800:]}

    def run(self):
        self.look_around()
        self.record()
        self.say("correlating")
        self.judge()
        if self.failed:
            self.manifest["error"] = self.failed
        self.manifest["seconds"] = round(time.time() - self.began, 1)
        results.write_json(f"{self.work}/manifest.json", self.manifest)

    def close(self):
        for recorder in self.recorders:
            recorder.stop()
        Child.stop_all()
        if not os.path.exists(f"{self.work}/manifest.json"):
            self.manifest.setdefault("error", "interrupted")
            results.write_json(f"{self.work}/manifest.json", self.manifest)
        sizes = results.pack(self.work, self.options.out)
        for name, size in sizes.items():
            self.say(f"{size:>10} {name}")
        shutil.rmtree(self.work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(HERE)))
    parser.add_argument("--node", default=None)
    parser.add_argument("--app", default=None)
    seconds = os.environ.get("WHYSLOW_KIT_SECONDS")
    parser.add_argument("--scale", type=float, default=float(seconds) / FULL_S if seconds else 1.0)
    parser.add_argument("--regimes", default="", help="names with commas between them; default: all")
    parser.add_argument("--simulate", action="store_true")
    options = parser.parse_args()
    options.node = options.node or shutil.which("node")
    options.app = options.app or f"{options.root}/dist"
    if not options.node or not os.path.exists(f"{options.app}/src/cli/whyslow.js"):
        sys.exit("kit: no Node or no built agent: run `npm run build`, or use the packed kit")
    kit = Kit(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        kit.run()
        status = 1 if kit.failed else 0
    except Exception as error:
        kit.manifest["error"] = f"{type(error).__name__}: {error}"
        kit.say(f"FAILED: {error}")
        raise SystemExit(1) from error
    finally:
        kit.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
