import { describe, expect, it } from "vitest";
import { dcgmExporter } from "../../collectors/dcgm-exporter.js";
import type { Track } from "../../schemas/index.js";
import { rateSeries } from "../../src/core/interval-series.js";
import { measureRefresh } from "../../src/core/refresh.js";
import { pageContext } from "../collectors/page-context.js";
import { canonical } from "../text/canonical-reading.js";

const gpu = (name: string, value: string, labels = ""): string => `${name}{gpu="0",UUID="GPU-a"${labels}} ${value}\n`;
const read = (...lines: string[]) => canonical(lines.join(""), { node: "n" });
const values = (...lines: string[]) => read(...lines).of("GPU-a") ?? {};

function polling() {
  const context = pageContext();
  const instance = dcgmExporter.start();
  return (page: string | { body: string; truncated: boolean }) => {
    context.answer("http://127.0.0.1:9400/metrics", page);
    return context.poll(instance);
  };
}

const track = (columns: Readonly<Record<string, number[]>>, stepUs = 1e6): Track => ({
  source: { name: "dcgm-exporter", node: "n", imported: true, interval_ms: null, window_ms: null, lag_ms: null, rejected: {} },
  entity: { kind: "gpu", node: "n", key: "GPU-a", labels: {} },
  ts_us: Float64Array.from(Object.values(columns)[0]!, (_, i) => 1.7e15 + i * stepUs),
  epoch: new Int32Array(Object.values(columns)[0]!.length),
  columns: Object.fromEntries(Object.entries(columns).map(([name, list]) => [name, Float64Array.from(list)])),
});

describe("traps of dcgm-exporter", () => {
  it("trap gpu-telemetry 1: an INT64 blank is missing, not 9e18 degrees", () => {
    const page = read(gpu("DCGM_FI_DEV_MEMORY_TEMP", "9223372036854775794"), gpu("DCGM_FI_DEV_GPU_TEMP", "48"));
    expect(page.of("GPU-a")).toEqual({ temp_c: 48 });
    expect(page.summary.rejected).toEqual({ "dcgm-exporter": { sentinel: 1 } });
  });

  it("trap gpu-telemetry 2: 0 degrees of memory beside a warm GPU is no sensor", () => {
    expect(values(gpu("DCGM_FI_DEV_MEMORY_TEMP", "0"), gpu("DCGM_FI_DEV_GPU_TEMP", "48"))).toEqual({ temp_c: 48 });
  });

  it("trap gpu-telemetry 3: blanks of floating point fields are missing, in both forms", () => {
    expect(
      values(gpu("DCGM_FI_DEV_POWER_USAGE", "140737488355328.000000"), gpu("DCGM_FI_PROF_DRAM_ACTIVE", "1.40737488355328e+16")),
    ).toEqual({});
  });

  it("trap gpu-telemetry 4: an impossible utilization is refused alone, and counted", () => {
    const page = read(gpu("DCGM_FI_DEV_GPU_UTIL", "4294967295"), gpu("DCGM_FI_DEV_POWER_USAGE", "300"));
    expect(page.of("GPU-a")).toEqual({ power_w: 300 });
    expect(read(gpu("DCGM_FI_DEV_GPU_UTIL", "1273")).summary.rejected).toEqual({ "dcgm-exporter": { range: 1 } });
    expect(Object.values(page.summary.rejected["dcgm-exporter"]!)).toEqual([1]);
  });

  it("trap gpu-telemetry 5: an XID is an event when it changes; the one that is there at first sight is old", async () => {
    const show = polling();
    const page = (xid: number) => gpu("DCGM_FI_DEV_XID_ERRORS", String(xid)) + gpu("DCGM_FI_DEV_POWER_USAGE", "300");
    expect((await show(page(31))).marks).toEqual([]);
    expect((await show(page(31))).marks).toEqual([]);
    expect((await show(page(79))).marks).toMatchObject([{ kind: "xid", text: "XID 79 on GPU-a" }]);
    const later = polling();
    await later(gpu("DCGM_FI_DEV_POWER_USAGE", "300"));
    expect((await later(page(31))).marks).toMatchObject([{ text: "XID 31 on GPU-a" }]);
  });

  it("trap gpu-telemetry 6: PCIe and NVLink bytes are rates, whatever TYPE says", () => {
    const page = read(
      "# TYPE DCGM_FI_PROF_PCIE_TX_BYTES counter\n",
      gpu("DCGM_FI_PROF_PCIE_TX_BYTES", "78000000"),
      "# TYPE DCGM_FI_PROF_NVLINK_RX_BYTES counter\n",
      gpu("DCGM_FI_PROF_NVLINK_RX_BYTES", "5000000000"),
    );
    expect(page.of("GPU-a")).toEqual({ pcie_tx_bytes_per_s: 78e6, nvlink_rx_bytes_per_s: 5e9 });
  });

  it("trap gpu-telemetry 7: field 449 is a rate in MB/s that may fall without a reset", async () => {
    const show = polling();
    const page = (mb: number) =>
      `# TYPE DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL counter\n${gpu("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", String(mb))}`;
    const first = await show(page(2000));
    const second = await show(page(10));
    expect([first, second].map((r) => r.samples[0]!.values.nvlink_total_bytes_per_s)).toEqual([2e9, 1e7]);
    expect(second.marks).toEqual([]);
  });

  it("trap gpu-telemetry 8: a MIG instance is an entity of its own, instance 0 too", () => {
    const mig = ',GPU_I_PROFILE="1g.10gb",GPU_I_ID="0"';
    const page = read(gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.5"), gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.9", mig));
    expect([page.of("GPU-a"), page.of("GPU-a/0")]).toEqual([{ gr_engine_active_ratio: 0.5 }, { gr_engine_active_ratio: 0.9 }]);
  });

  it("trap gpu-telemetry 9: a series printed once a job or pod is one reading with several owners", () => {
    const page = read(gpu("DCGM_FI_DEV_GPU_UTIL", "80", ',hpc_job="41"'), gpu("DCGM_FI_DEV_GPU_UTIL", "80", ',hpc_job="42"'));
    expect(page.samples.map((s) => s.values)).toEqual([{ gpu_util_ratio: 0.8 }]);
    const pods = read(...["a", "b", "c"].map((pod) => gpu("DCGM_FI_DEV_FB_USED", "1000", `,pod="${pod}",namespace="x"`)));
    expect(pods.of("GPU-a")).toEqual({ fb_used_bytes: 1000 * 2 ** 20 });
    expect(pods.labels("GPU-a")!.pod).toBe("a,b,c");
  });

  it("trap gpu-telemetry 10: an empty or cut page loses its last partial line, and no GPU at once", async () => {
    const show = polling();
    const page = gpu("DCGM_FI_DEV_POWER_USAGE", "300") + gpu("DCGM_FI_DEV_POWER_USAGE", "301").replace("GPU-a", "GPU-b");
    for (let i = 0; i < 3; i++) await show(page);
    const cut = await show({ body: page.slice(0, -10), truncated: true });
    expect(cut.samples.map((s) => s.entity.key)).toEqual(["GPU-a"]);
    expect([cut.rejected, cut.marks]).toEqual([{ truncated: 1 }, []]);
    const empty = await show("");
    expect(empty.marks).toEqual([]);
    expect(empty.notice).toContain("empty page");
  });

  it("trap gpu-telemetry 11: labels in another order, case or number are the same GPU", () => {
    const page = read(
      'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",Hostname="h"} 300\n',
      'DCGM_FI_DEV_GPU_TEMP{hostname="h",extra="x",uuid="GPU-a",gpu="0"} 50\n',
    );
    expect(page.samples.map((s) => [s.entity.key, s.values])).toEqual([["GPU-a", { power_w: 300, temp_c: 50 }]]);
  });

  it("trap gpu-telemetry 12: a label value may hold commas, braces and dashes", () => {
    expect(read(gpu("DCGM_FI_DEV_XID_ERRORS", "31", ',err_code="31",err_msg="a, b } -- c \\"d\\""')).of("GPU-a")).toEqual({ xid: 31 });
  });

  it("trap gpu-telemetry 13: noise of kubectl, ellipses and lines without a value are refused alone", () => {
    const page = read(
      "Handling connection for 9400\n",
      gpu("DCGM_FI_DEV_GPU_TEMP", "50"),
      "...\n",
      'DCGM_FI_PROF_DRAM_ACTIVE{pod="x",...} 0.7\n',
      'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a"}\n',
    );
    expect(page.of("GPU-a")).toEqual({ temp_c: 50 });
    expect(Object.values(page.summary.rejected[""]!).reduce((a, b) => a + b, 0)).toBe(4);
  });

  it("trap gpu-telemetry 14: the same values scrape after scrape are one measurement, with a window as long as they stand", () => {
    const standing = (values_: number[]) => values_.flatMap((v) => Array<number>(30).fill(v));
    const refresh = measureRefresh(track({ sm_active_ratio: standing([0.5, 0.7, 0.6]), dram_active_ratio: standing([0.31, 0.32, 0.33]) }));
    expect(refresh.interval_us).toBe(1e6);
    expect(refresh.refresh_us).toBe(30e6);
    expect(refresh.repeated!.reduce((a, b) => a + b, 0)).toBe(87);
  });

  it("trap gpu-telemetry 15: profiling fields that vanish while the others go on are told", async () => {
    const show = polling();
    await show(gpu("DCGM_FI_PROF_SM_ACTIVE", "0.5") + gpu("DCGM_FI_DEV_POWER_USAGE", "300"));
    const without = await show(gpu("DCGM_FI_DEV_POWER_USAGE", "301"));
    expect(without.notice).toContain("profiling fields vanished");
    expect(without.samples[0]!.values).toEqual({ power_w: 301 });
  });

  it("trap gpu-telemetry 16: an energy counter that falls begins anew and gives no negative power", () => {
    const energy = track({ energy_j_total: [1e6, 1.0003e6, 340, 640] });
    const rate = rateSeries(energy, "energy_j_total", { refresh: measureRefresh(energy), lag_us: 0, window_us: Number.NaN });
    const rates = [...rate.value].filter((v) => !Number.isNaN(v));
    expect(rates.length).toBeGreaterThan(0);
    expect(rates.every((v) => v === 300)).toBe(true);
  });

  it("trap gpu-telemetry 31: power above the limit is legal", () => {
    expect(values(gpu("DCGM_FI_DEV_POWER_USAGE", "409.692000"))).toEqual({ power_w: 409.692 });
  });

  it("trap gpu-telemetry 32: the MIG profile is free text, and nothing is computed from it", () => {
    const page = read(
      gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.9", ',GPU_I_PROFILE="<<<NULL>>>",GPU_I_ID="1"'),
      gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.8", ',GPU_I_PROFILE="7g.79gb",GPU_I_ID="2"'),
    );
    expect(page.labels("GPU-a/1")!.mig_profile).toBeUndefined();
    expect(page.labels("GPU-a/2")!.mig_profile).toBe("7g.79gb");
    expect(page.of("GPU-a/2")).toEqual({ gr_engine_active_ratio: 0.8 });
  });

  it("trap gpu-telemetry 33: the unit comes from the name, never from HELP or the size of the value", () => {
    const help = "# HELP DCGM_FI_PROF_GR_ENGINE_ACTIVE Ratio of time the graphics engine is active (in %).\n";
    expect(values(help, gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.42"))).toEqual({ gr_engine_active_ratio: 0.42 });
    expect(values(gpu("DCGM_FI_DEV_GPU_UTIL", "1"))).toEqual({ gpu_util_ratio: 0.01 });
    expect(values(gpu("DCGM_FI_DEV_GPU_UTIL_RATIO", "1"))).toEqual({ gpu_util_ratio: 1 });
  });

  it("trap gpu-telemetry 34: GPUs that swap their index stay who they are", async () => {
    const show = polling();
    const page = (a: number, b: number) =>
      `DCGM_FI_DEV_POWER_USAGE{gpu="${a}",UUID="GPU-a"} 300\nDCGM_FI_DEV_POWER_USAGE{gpu="${b}",UUID="GPU-b"} 100\n`;
    await show(page(0, 1));
    expect((await show(page(1, 0))).samples.map((s) => [s.entity.key, s.values.power_w])).toEqual([
      ["GPU-a", 300],
      ["GPU-b", 100],
    ]);
  });

  it("trap gpu-telemetry 35: memory cells that are rounded one by one need not add up", () => {
    const page = read(
      gpu("DCGM_FI_DEV_FB_TOTAL", "10239"),
      gpu("DCGM_FI_DEV_FB_USED", "9000"),
      gpu("DCGM_FI_DEV_FB_FREE", "1000"),
      gpu("DCGM_FI_DEV_FB_RESERVED", "241"),
    );
    expect(Object.keys(page.of("GPU-a")!)).toHaveLength(4);
    expect(page.summary.rejected).toEqual({});
  });
});
