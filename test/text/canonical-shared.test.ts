import { describe, expect, it } from "vitest";
import { scanExposition } from "../../src/text/exposition-scanner.js";
import { canonical, filesOf, readShared, sharedFolder } from "./canonical-reading.js";

const dcgm = sharedFolder("samples/dcgm-exporter");
const servers = sharedFolder("samples/server-metrics");
const lab = sharedFolder("lab/dev");

/** Reference parse of every payload with a strict line grammar: samples / refused lines. */
const LINES: Record<string, readonly [number, number]> = {
  "l4-580.105.08-idle": [23, 0],
  "l40s-595.58.03-full": [23, 0],
  "t4-590.48.01-load-no-help": [20, 0],
  "t4-580.105.08-aws-chunks": [17, 0],
  "grid-a100-10c-vgpu-580.126.09": [11, 0],
  "grid-a100-40c-vgpu": [11, 0],
  "h100x8-580.105.08-k8s-vllm": [30, 0],
  "rtx4000ada-580.95.05-k8s-portforward": [25, 1],
  "a100-mig-2.4.0-rc2-gpu-and-instance": [21, 0],
  "a30-mixed-4.8.x-lowercase-hostname.excerpt": [4, 0],
  "a30-mig-xid.excerpt": [6, 0],
  "h100-mig-535.129.03-k8s.excerpt": [3, 0],
  "a100-80g-mig-old-namespace.excerpt": [3, 0],
  "a100x8-nvlink-always-0.excerpt": [4, 0],
  "v100-k8s-2.1-load.excerpt": [8, 0],
  "legacy-1.x-lowercase-names.excerpt": [5, 0],
  "legacy-2.0.13-blank-sentinel.excerpt": [3, 2],
  "legacy-2.0.13-k8s-empty-labels.excerpt": [3, 0],
  "netdata-synthetic-mixed": [12, 0],
  "l40s-k8s-redacted-prof.excerpt": [3, 0],
  "xid-count-name-mismatch-545.29.02.excerpt": [1, 0],
  "xid-errcode-vgpu-580.95.05.excerpt": [1, 0],
  "xid-45-errmsg.excerpt": [0, 1],
  "a100-mig-null-profile.excerpt": [0, 2],
  "timeslice-identical-values-abridged.excerpt": [0, 3],
  "a100-mig-wrong-profile-7g79gb.excerpt": [1, 0],
  "entity-groups-lowercase-4.8.3.synthetic": [4, 1],
};

/** Entities that come out of the payloads where the number is not one. */
const GPUS: Record<string, number> = {
  "h100x8-580.105.08-k8s-vllm": 8,
  "a100-mig-2.4.0-rc2-gpu-and-instance": 2,
  "a30-mixed-4.8.x-lowercase-hostname.excerpt": 4,
  "a30-mig-xid.excerpt": 6,
  "h100-mig-535.129.03-k8s.excerpt": 3,
  "a100-80g-mig-old-namespace.excerpt": 3,
  "a100x8-nvlink-always-0.excerpt": 4,
  "netdata-synthetic-mixed": 2,
  "l40s-k8s-redacted-prof.excerpt": 3,
  "xid-count-name-mismatch-545.29.02.excerpt": 0,
  "xid-45-errmsg.excerpt": 0,
  "a100-mig-null-profile.excerpt": 0,
  "timeslice-identical-values-abridged.excerpt": 0,
  "entity-groups-lowercase-4.8.3.synthetic": 0,
};

describe.skipIf(dcgm === null)("real pages of dcgm-exporter (skipped only where ../shared/samples is not there)", () => {
  const files = filesOf(dcgm).filter((f) => f.endsWith(".prom"));

  it("has a reference for every payload", () => {
    expect(files.map((f) => f.replace(/\.prom$/, "")).sort()).toEqual(Object.keys(LINES).sort());
  });

  it.each(files)("%s: lines kept and refused, GPUs found, nothing out of range", (file) => {
    const name = file.replace(/\.prom$/, "");
    const text = readShared(dcgm!, file);
    const { samples, errors } = scanExposition(text, { sample: () => undefined });
    expect([samples, errors]).toEqual(LINES[name]);
    const read = canonical(text);
    expect(read.samples).toHaveLength(GPUS[name] ?? 1);
    expect(read.samples.every((s) => s.entity.kind === "gpu" && Object.values(s.values).every(Number.isFinite))).toBe(true);
    expect(JSON.stringify(read.samples)).not.toContain("<<<");
    expect(read.summary.rejected["dcgm-exporter"]?.range).toBeUndefined();
  });

  it("takes 0 degrees of memory as a missing sensor on cards without HBM, and keeps the others", () => {
    const temps = (file: string) => canonical(readShared(dcgm!, file)).samples.map((s) => s.values.mem_temp_c);
    expect(temps("l4-580.105.08-idle.prom")).toEqual([undefined]);
    expect(temps("v100-k8s-2.1-load.excerpt.prom")).toEqual([54]);
    expect(temps("legacy-2.0.13-blank-sentinel.excerpt.prom")).toEqual([undefined]);
  });

  it("reads power above the nominal limit, and leaves missing fields of a vGPU missing", () => {
    expect(canonical(readShared(dcgm!, "a100-mig-2.4.0-rc2-gpu-and-instance.prom")).samples[0]!.values.power_w).toBe(409.692);
    const vgpu = canonical(readShared(dcgm!, "grid-a100-10c-vgpu-580.126.09.prom")).samples[0]!.values;
    expect([vgpu.power_w, vgpu.temp_c, vgpu.gr_engine_active_ratio, vgpu.gpu_util_ratio]).toEqual([undefined, undefined, undefined, 0]);
  });
});

describe.skipIf(servers === null)("real pages of vLLM and SGLang (skipped only where ../shared/samples is not there)", () => {
  const files = filesOf(servers).filter((f) => /^(vllm|sglang).*\.prom$/.test(f));

  it.each(files)("%s: one engine kind, finite values, no creation times", (file) => {
    const read = canonical(readShared(servers!, file));
    expect(read.summary.engines).toEqual([file.startsWith("vllm") ? "vllm" : "sglang"]);
    expect(read.samples.length).toBeGreaterThan(0);
    for (const s of read.samples) {
      for (const [name, value] of Object.entries(s.values)) {
        expect(Number.isFinite(value)).toBe(true);
        if (name !== "process_start_time_s" && !name.startsWith("estimated")) expect(value).toBeLessThan(1e9);
      }
    }
    expect(read.summary.rejected).toEqual({});
  });

  it("gets the figures that are known of the pages", () => {
    const values = (file: string) => canonical(readShared(servers!, file)).samples[0]!.values;
    expect(values("vllm-v1-0.17ish-created-series-mfu.prom").kv_capacity_tokens).toBe(1_626_000);
    expect(values("vllm-v0-0.5.0-one-request.prom")).toMatchObject({
      kv_usage_ratio: 0,
      itl_count_total: 6,
      prompt_tokens_total: 5,
      kv_capacity_tokens: 116_496,
    });
    expect(values("vllm-metal-stuck-waiting-capacity-excerpt.prom")).toEqual({ running: 0, waiting: 6, kv_usage_ratio: 0 });
    const overload = values("sglang-0.4-overload-saturated-buckets.prom");
    expect(overload).toMatchObject({ running: 162, waiting: 2826 });
    expect(overload.ttft_s_sum_total! / overload.ttft_count_total!).toBeCloseTo(213.65, 2);
    expect(values("sglang-2024-09-pr1461-percent-hit-rate-excerpt.prom").prefix_hit_ratio).toBeCloseTo(0.87588, 5);
    expect(values("sglang-priority-scheduling-excerpt.prom")).toEqual({ running: 3 });
  });

  it("keeps three good lines of the page with NaN and a negative count", () => {
    const text = readShared(servers!, "torture-labels-nan-negative.prom");
    const { samples, errors } = scanExposition(text, { sample: () => undefined });
    expect([samples, errors]).toEqual([3, 1]);
    expect(canonical(text).samples.map((s) => s.values)).toEqual([{ waiting: 2 }]);
  });
});

describe.skipIf(lab === null)("telemetry of the labelled runs (skipped only where ../shared/lab is not there)", () => {
  it.each(filesOf(lab).slice(0, 4))("%s: every source on one node, one row a scrape", (run) => {
    const read = canonical(readShared(new URL(`${run}/`, lab!), "telemetry.om.gz"), {}, null);
    expect(new Set(read.samples.map((s) => s.entity.node))).toEqual(new Set(["node-a"]));
    expect(
      Object.keys(read.bySource)
        .filter((s) => !["vllm", "sglang"].includes(s))
        .sort(),
    ).toEqual(["cadvisor", "dcgm-exporter", "node_exporter"]);
    const server = read.samples.filter((s) => s.entity.kind === "server");
    expect(server.every((s) => s.values.kv_usage_ratio !== undefined)).toBe(true);
    const cpu = server.filter((s) => s.values.process_cpu_s_total !== undefined);
    expect(cpu).toHaveLength(read.bySource.vllm ?? 0);
    const gpu = read.samples.find((s) => s.entity.kind === "gpu")!;
    expect(gpu.values).toMatchObject({ energy_j_total: expect.closeTo(1_000_354, -3) as number });
    expect(read.summary.rejected).toEqual({});
  });
});
