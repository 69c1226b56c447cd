"""Another tenant of the GPU: copies device memory until its standard input closes. Prints `ready` when it has its memory, `go` starts it."""
import sys
import threading


def main():
    import torch

    size = int(min(2e9, torch.cuda.mem_get_info()[0] / 4))
    source = torch.zeros(size, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    torch.cuda.synchronize()
    print("ready", flush=True)
    if not sys.stdin.readline():
        return
    closed = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), closed.set()), daemon=True).start()
    while not closed.is_set():
        for _ in range(8):
            target.copy_(source)
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
