import { describe, expect, it } from "vitest";
import { canonical, fixture } from "./canonical-reading.js";

const page = (file: string) => canonical(fixture(`dcgm-exporter/${file}`));

describe("dcgm-exporter rows", () => {
  it("reads the default page of 4.8 with its units, whatever HELP and TYPE say", () => {
    const read = page("4.8/two-gpus.prom");
    expect(read.of("GPU-33333333-0000-4000-8000-000000000000")).toEqual({
      sm_clock_mhz: 1980,
      mem_clock_mhz: 2619,
      mem_temp_c: 61,
      temp_c: 58,
      power_w: 631.95,
      energy_j_total: 5_551_899.58,
      pcie_replay_total: 120,
      gpu_util_ratio: 1,
      mem_util_ratio: 0.11,
      xid: 0,
      fb_free_bytes: 61_234 * 2 ** 20,
      fb_used_bytes: 19_818 * 2 ** 20,
      fb_reserved_bytes: 507 * 2 ** 20,
      nvlink_total_bytes_per_s: 1.2e9,
      gr_engine_active_ratio: 0.99563,
      sm_active_ratio: 0.912,
      tensor_active_ratio: 0.42,
      dram_active_ratio: 0.551,
      pcie_tx_bytes_per_s: 33_011_804,
      pcie_rx_bytes_per_s: 97_863_601,
    });
    expect(read.labels("GPU-33333333-0000-4000-8000-000000000000")).toEqual({
      index: "0",
      model: "NVIDIA H100 80GB HBM3",
      pci_bus_id: "00000000:18:00.0",
      pod: "llm-0",
      namespace: "llm",
      container: "main",
    });
    expect(read.node("GPU-33333333-0000-4000-8000-000000000000")).toBe("node-a");
    expect(read.samples.map((s) => s.ts_us)).toEqual([1_788_404_001_007_000, 1_788_404_001_007_000]);
    expect(read.summary.manifest).toEqual({ driver_version: "580.105.08", gpu_model: "NVIDIA H100 80GB HBM3" });
  });

  it("reads 1 % as 1 %, and 0 degrees of memory as no sensor", () => {
    const read = page("4.8/two-gpus.prom");
    const idle = read.of("GPU-33333333-0000-4000-8000-000000000001")!;
    expect(idle.gpu_util_ratio).toBe(0.01);
    expect(idle.mem_temp_c).toBeUndefined();
    expect(idle.xid).toBe(31);
    expect(read.summary.rejected).toEqual({ "dcgm-exporter": { unsupported: 1 } });
  });

  it("refuses sentinels and impossible values, each alone, and keeps byte rates beyond 2^31", () => {
    const read = page("2.0/blanks.prom");
    expect(read.of("GPU-22222222-0000-4000-8000-000000000001")).toEqual({
      sm_clock_mhz: 139,
      pcie_tx_bytes_per_s: 21_474_836_480,
      sm_active_ratio: 1,
      xid: 45,
    });
    expect(read.summary.rejected).toEqual({ "": { value: 1, syntax: 2 }, "dcgm-exporter": { sentinel: 4, range: 1 } });
  });

  it("knows the names of 1.x and does not guess the PCIe counter", () => {
    expect(page("1.x/lower-case.prom").of("GPU-11111111-0000-4000-8000-000000000001")).toEqual({
      sm_clock_mhz: 1380,
      mem_clock_mhz: 877,
      power_w: 210.5,
      energy_j_total: 7824.041,
    });
  });

  it("reads field names in any case, with the _total that OpenMetrics appends", () => {
    const read = canonical(
      'dcgm_fi_dev_total_energy_consumption_total{gpu="0",uuid="GPU-a"} 1500\ndcgm_fi_prof_sm_active{uuid="GPU-a"} 0.5\n',
    );
    expect(read.of("GPU-a")).toEqual({ energy_j_total: 1.5, sm_active_ratio: 0.5 });
  });

  it("reads the names of 4.9 in base units and prefers them to the old ones beside them", () => {
    const read = page("4.9/renamed.prom");
    expect(read.of("GPU-55555555-0000-4000-8000-000000000000")).toEqual({
      sm_clock_mhz: 1980,
      mem_clock_mhz: 3201,
      energy_j_total: 5551.25,
      gpu_util_ratio: 1,
      fb_used_bytes: 20_780_679_168,
      fb_total_bytes: 150_754_820_096,
      power_w: 627.4,
      temp_c: 54,
      mem_temp_c: 60,
      nvlink_total_bytes_per_s: 123_456_789,
      sm_active_ratio: 0.9,
      tensor_active_ratio: 0.5,
      dram_active_ratio: 0.6,
    });
    expect(read.series.map((s) => [s.metric, s.value, s.labels])).toEqual([["DCGM_FI_DEV_SOMETHING_NEW_BYTES", 12, {}]]);
    expect(read.summary.manifest.driver_version).toBe("610.57.04");
  });

  it("keeps a MIG instance apart from its GPU, instance 0 included", () => {
    const read = page("4.8/mig-and-sharing.prom");
    const gpu = "GPU-44444444-0000-4000-8000-000000000000";
    expect([gpu, `${gpu}/0`, `${gpu}/13`].map((key) => read.of(key)?.gr_engine_active_ratio)).toEqual([0.99563, 0.7, 0.8]);
    expect(read.labels(`${gpu}/13`)).toEqual({ index: "0", model: "NVIDIA A100-SXM4-40GB" });
  });

  it("takes a value that is printed once a job or pod as one, and adds only shares of named owners", () => {
    const read = page("4.8/mig-and-sharing.prom");
    const shared = "GPU-44444444-0000-4000-8000-000000000001";
    expect(read.of(shared)).toEqual({ power_w: 302.5, temp_c: 50, gpu_util_ratio: 1, fb_used_bytes: 3000 * 2 ** 20 });
    expect(read.labels(shared)).toEqual({ index: "1", pod: "p1,p2", namespace: "n" });
    expect(read.summary.rejected).toEqual({ "": { syntax: 1 }, "dcgm-exporter": { duplicate_conflict: 1 } });
  });

  it("takes the workload's pod where Prometheus moved it aside", () => {
    const read = canonical(
      'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a",pod="exporter-x",namespace="gpu-operator",exported_pod="llm-0",exported_namespace="llm"} 50\n',
    );
    expect(read.labels("GPU-a")).toEqual({ pod: "llm-0", namespace: "llm" });
  });

  it("does not take rows of switches, links and CPUs for GPUs", () => {
    expect(
      canonical('DCGM_FI_DEV_GPU_TEMP{nvswitch="0"} 50\nDCGM_FI_DEV_GPU_TEMP{nvlink="1",gpu="0",gpu_uuid="GPU-a"} 50\n').samples,
    ).toEqual([]);
  });
});

describe("nvidia_gpu_exporter rows", () => {
  const text = [
    'nvidia_smi_gpu_info{driver_version="595.80",index="0",name="NVIDIA L40S",pci_bus_id="00000000:01:00.0",uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 1',
    'nvidia_smi_utilization_gpu_ratio{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 0.09',
    'nvidia_smi_clocks_current_sm_clock_hz{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 2.52e+09',
    'nvidia_smi_power_draw_watts{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 110.23',
    'nvidia_smi_power_draw_average_watts{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 110.9',
    'nvidia_smi_clocks_event_reasons_counters_sw_power_cap_seconds{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 204.642816',
    'nvidia_smi_memory_used_bytes{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 1.29499136e+09',
    'nvidia_smi_name{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 40',
  ].join("\n");

  it("gives the UUID its prefix, so that it is the GPU of the other sources", () => {
    const read = canonical(`${text}\n`);
    const key = "GPU-df6e7a7c-7314-46f8-abc4-b88b36dcf3aa";
    expect(read.of(key)).toEqual({
      gpu_util_ratio: 0.09,
      sm_clock_mhz: 2520,
      power_w: 110.23,
      throttle_power_s_total: 204.642816,
      fb_used_bytes: 1_294_991_360,
    });
    expect(read.labels(key)).toEqual({ index: "0", model: "NVIDIA L40S", pci_bus_id: "00000000:01:00.0" });
    expect(read.bySource).toEqual({ nvidia_gpu_exporter: 1 });
    expect(read.summary.manifest).toMatchObject({ driver_version: "595.80", gpu_model: "NVIDIA L40S" });
  });
});
