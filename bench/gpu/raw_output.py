"""nvidia-smi's output as it came, each line behind the time of its arrival: `UNIX_MICROSECONDS<TAB>LINE`."""
import os
import pty
import subprocess
import termios
import threading
import time

from processes import GROUP

FIELDS = [
    "timestamp",
    "index",
    "uuid",
    "name",
    "utilization.gpu",
    "utilization.memory",
    "power.draw",
    "power.draw.average",
    "power.draw.instant",
    "clocks.sm",
    "clocks.mem",
    "memory.used",
    "temperature.gpu",
    "temperature.memory",
    "clocks_event_reasons.active",
    "enforced.power.limit",
    "pcie.link.gen.current",
    "pstate",
]
QUERY_MS = 100
GPM_IDS = "1,2,3,4,5,6,7,10,11,12,13,20,21"


def known_fields(env):
    """Those of FIELDS that this driver knows; the reasons' older name where it knows only that."""
    text = once(["nvidia-smi", "--help-query-gpu"], env)[1]
    fields = [f.replace("clocks_event_reasons", "clocks_throttle_reasons") if f'"{f}"' not in text else f for f in FIELDS]
    return [f for f in fields if f'"{f}"' in text]


def once(command, env, timeout_s=20):
    """(status, output). A program that is not there is status 127."""
    try:
        result = subprocess.run(command, env=env, capture_output=True, timeout=timeout_s, stdin=subprocess.DEVNULL)
        return result.returncode, (result.stdout + result.stderr).decode("utf-8", "replace")
    except FileNotFoundError as error:
        return 127, str(error)
    except subprocess.TimeoutExpired:
        return 124, "no end within the time"


class Recorder:
    """Gives the program a terminal to print to: into a pipe it would print in bursts of many lines, and the times would be the bursts'."""

    def __init__(self, command, path, env):
        near, far = pty.openpty()
        modes = termios.tcgetattr(far)
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(far, termios.TCSANOW, modes)
        self.output = os.fdopen(near, "rb", buffering=0)
        self.process = subprocess.Popen(command, env=env, stdout=far, stderr=far, stdin=subprocess.DEVNULL, **GROUP)
        os.close(far)
        self.thread = threading.Thread(target=self._run, args=(path,), daemon=True)
        self.thread.start()

    def _run(self, path):
        rest = b""
        with open(path, "wb") as file:
            while True:
                try:
                    chunk = self.output.read(65_536)
                except OSError:
                    chunk = b""
                if not chunk:
                    return
                now = b"%d\t" % (time.time_ns() // 1000)
                *lines, rest = (rest + chunk).split(b"\n")
                file.write(b"".join(now + line + b"\n" for line in lines))

    def stop(self):
        self.process.terminate()
        self.thread.join(5)
        self.process.kill()
        self.process.wait(5)
        self.output.close()


def recorders(folder, env):
    query = ["nvidia-smi", f"--query-gpu={','.join(known_fields(env))}", "--format=csv,nounits", "-lms", str(QUERY_MS)]
    dmon = ["nvidia-smi", "dmon", "-s", "pucvmt", "-o", "DT", "-d", "1", f"--gpm-metrics={GPM_IDS}"]
    return [Recorder(query, f"{folder}/query.tsv", env), Recorder(dmon, f"{folder}/dmon.tsv", env)]


def inventory(folder, env):
    """What does not change while the kit runs."""
    for name, command in {
        "version.txt": ["nvidia-smi", "--version"],
        "list.txt": ["nvidia-smi", "-L"],
        "query.xml": ["nvidia-smi", "-q", "-x"],
        "topology.txt": ["nvidia-smi", "topo", "-m"],
        "help-query-gpu.txt": ["nvidia-smi", "--help-query-gpu"],
    }.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(once(command, env)[1])
