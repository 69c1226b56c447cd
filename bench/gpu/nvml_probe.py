"""Reads NVML every few milliseconds, where the module `pynvml` is there: how often a value really changes lies below nvidia-smi's 100 ms.

    python3 nvml_probe.py --out FILE     until its standard input closes
"""
import argparse
import json
import select
import sys
import time

EVERY_S = 0.01


def readers(nvml, handle):
    """Name and function of what this driver answers."""
    candidates = {
        "power_mw": lambda: nvml.nvmlDeviceGetPowerUsage(handle),
        "energy_mj": lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle),
        "util": lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu,
        "mem_util": lambda: nvml.nvmlDeviceGetUtilizationRates(handle).memory,
        "sm_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        "temp_c": lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
    }
    found = {}
    for name, read in candidates.items():
        try:
            read()
            found[name] = read
        except Exception as error:
            print(f"nvml_probe: no {name}: {error}", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    try:
        import pynvml

        pynvml.nvmlInit()
        found = readers(pynvml, pynvml.nvmlDeviceGetHandleByIndex(0))
    except Exception as error:
        print(f"nvml_probe: not used: {error}", file=sys.stderr)
        return
    last = {}
    with open(options.out, "w", encoding="utf-8") as file:
        while not select.select([sys.stdin], [], [], EVERY_S)[0]:
            for name, read in found.items():
                try:
                    value = read()
                except Exception:
                    continue
                # Changes alone: their spacing is the refresh interval.
                if last.get(name) != value:
                    last[name] = value
                    file.write(json.dumps([time.time_ns() // 1000, name, value]) + "\n")


if __name__ == "__main__":
    main()
