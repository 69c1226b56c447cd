import { describe, expect, it } from "vitest";
import { readGpu } from "../../src/sim/gpu-reading.js";
import { readHost } from "../../src/sim/host-reading.js";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { Random } from "../../src/sim/random.js";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD, type Fault } from "../../src/sim/scenario.js";

const FAULT = { start_us: 20e6, end_us: 30e6 };
function node(faults: readonly Omit<Fault, "start_us" | "end_us">[], rate = 6): InferenceNode {
  const n = new InferenceNode({
    seed: 2,
    server: { ...DEFAULT_SERVER, tp: 2 },
    workload: { ...DEFAULT_WORKLOAD, rate_per_s: rate },
    faults: faults.map((f) => ({ ...f, ...FAULT })),
  });
  n.advance(40e6);
  return n;
}
const read = (n: InferenceNode, from_us: number, to_us: number, gpu = 0) => readGpu(n, gpu, from_us, to_us, new Random(1, "noise"));

describe("GPU readings", () => {
  it("are idle without requests, with the context's power", () => {
    const r = read(node([], 0.001), 10e6, 20e6);
    expect(r.gr).toBe(0);
    expect(r.gpu_util).toBe(0);
    expect(r.power_w).toBeGreaterThan(100);
    expect(r.power_w).toBeLessThan(130);
    expect(r.clocks_event_mask).toBe(1);
  });

  it("are those of decode with some prefill under load", () => {
    const r = read(node([]), 5e6, 20e6);
    expect(r.gr).toBeGreaterThan(0.8);
    expect(r.dram).toBeGreaterThan(0.35);
    expect(r.tensor).toBeLessThan(0.25);
    expect(r.power_w / 700).toBeGreaterThan(0.35);
    expect(r.power_w / 700).toBeLessThan(0.75);
    expect(r.nvlink_tx).toBeGreaterThan(1e8);
    expect(r.fb_used_mib + r.fb_free_mib + r.fb_reserved_mib).toBe(81559);
  });

  it("show heat as a lower clock, its reasons and its time", () => {
    const n = node([{ kind: "thermal", magnitude: 0.5, rank: 1 }]);
    const hot = read(n, 24e6, 25e6, 1);
    expect(hot.sm_clock_mhz).toBeLessThan(1000);
    expect(hot.clocks_event_mask).toBe(0x60);
    expect(hot.thermal_us).toBe(5e6);
    expect(read(n, 24e6, 25e6, 0).clocks_event_mask).toBe(0);
    expect(read(n, 34e6, 35e6, 1).thermal_us).toBe(10e6);
  });

  it("count energy as the integral of power", () => {
    const n = node([]);
    const joules = (read(n, 0, 20e6).energy_mj - read(n, 0, 10e6).energy_mj) / 1000;
    const watts = Array.from({ length: 10 }, (_, i) => read(n, 0, (11 + i) * 1e6).power_w);
    const mean = watts.reduce((a, b) => a + b, 0) / 10;
    expect(Math.abs(joules / 10 / mean - 1)).toBeLessThan(0.06);
  });
});

describe("host readings", () => {
  it("count throttled periods only while the quota binds", () => {
    const n = node([{ kind: "cpu_throttle", magnitude: 0.2 }]);
    const [before, during, after] = [20e6, 30e6, 40e6].map((t) => readHost(n, t));
    expect(before!.cfs_throttled_periods).toBe(0);
    expect(during!.cfs_throttled_periods).toBe(100);
    expect(after!.cfs_throttled_periods).toBe(100);
    expect(during!.api.wait_s - before!.api.wait_s).toBeGreaterThan(7);
    expect(readHost(n, 25e6).quota_cores).toBeLessThan(1);
  });

  it("show the API server's core full when tokenising is dear, and counters that never fall", () => {
    const n = node([{ kind: "cpu_tokenize", magnitude: 150 }]);
    const cores = (from: number, to: number): number => (readHost(n, to).api.cpu_s - readHost(n, from).api.cpu_s) / ((to - from) / 1e6);
    expect(cores(5e6, 20e6)).toBeLessThan(0.2);
    expect(cores(22e6, 30e6)).toBeGreaterThan(0.9);
    for (let t = 1e6; t < 40e6; t += 1e6) {
      const [a, b] = [readHost(n, t), readHost(n, t + 1e6)];
      for (const key of ["user_s", "system_s", "idle_s", "container_cpu_s", "psi_cpu_s", "cfs_throttled_s"] as const)
        expect(b[key]).toBeGreaterThanOrEqual(a[key]);
    }
  });
});
