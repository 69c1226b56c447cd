"""Keeps one core busy until its standard input closes."""
import sys
import threading

closed = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), closed.set()), daemon=True).start()
while not closed.is_set():
    for _ in range(100_000):
        pass
