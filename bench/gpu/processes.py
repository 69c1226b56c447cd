"""Programs that the kit starts: each in a process group of its own, all of them ended when the kit ends.

They stay in one session: where the kernel groups tasks by session, processes of the kit then compete for a core as those of one service do.
"""
import json
import os
import queue
import signal
import subprocess
import sys
import threading

GRACE_S = 8
GROUP = {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}


class Child:
    """`log`: file for standard error, and for standard output too unless `lines` is set."""

    started = []

    def __init__(self, name, arguments, log, env=None, cwd=None, lines=True):
        self.name, self.log, self.queue = name, log, queue.Queue()
        self.file = open(log, "ab")
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE if lines else self.file, stderr=self.file, env=env, cwd=cwd, **GROUP
        )
        Child.started.append(self)
        if lines:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.queue.put(line.decode("utf-8", "replace").rstrip("\n"))
        self.queue.put(None)

    def line(self, timeout_s):
        """The next line; raises when there is none in time."""
        try:
            line = self.queue.get(timeout=timeout_s)
        except queue.Empty:
            line = None
        if line is None:
            raise RuntimeError(f"{self.name} said nothing within {timeout_s} s (status {self.process.poll()}): {self.tail()}")
        return line

    def json_line(self, timeout_s):
        return json.loads(self.line(timeout_s))

    def say(self, text):
        self.process.stdin.write((text + "\n").encode())
        self.process.stdin.flush()

    def tail(self, size=800):
        with open(self.log, "rb") as file:
            return file.read()[-size:].decode("utf-8", "replace").strip()

    @property
    def pid(self):
        return self.process.pid

    def wait(self, timeout_s):
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, grace_s=GRACE_S):
        """Closes its input, asks it to end, ends its group."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        if self.process.poll() is None:
            self._signal(signal.SIGTERM)
            if self.wait(grace_s) is None:
                self._signal(signal.SIGKILL)
                self.wait(5)
        self._signal(signal.SIGKILL)
        self.file.close()
        if self in Child.started:
            Child.started.remove(self)

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    @classmethod
    def stop_all(cls):
        for child in reversed(list(cls.started)):
            child.stop(2)
