import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cgroup } from "../../collectors/cgroup.js";
import { dcgmExporter } from "../../collectors/dcgm-exporter.js";
import { host } from "../../collectors/host.js";
import { network } from "../../collectors/network.js";
import { nvidiaSmiDmon } from "../../collectors/nvidia-smi-dmon.js";
import { nvidiaSmiQuery } from "../../collectors/nvidia-smi-query.js";
import { serverMetrics } from "../../collectors/server-metrics.js";
import { serverProcesses } from "../../collectors/server-processes.js";
import { type LabNode, startLabNode } from "../../lab/lab-node.js";
import type { PollCollector, Reading } from "../../schemas/collector.js";
import { liveContext, readUntil } from "./live-context.js";

const noPromtool = spawnSync("promtool", ["--version"]).error !== undefined && process.env.WHYSLOW_REQUIRE_ALL !== "1";
let lab: LabNode;
beforeAll(async () => {
  lab = await startLabNode({ seed: 5, gpus: 8, server: { tp: 2 }, dcgm_collect_ms: 200 });
  await new Promise((resolve) => setTimeout(resolve, 800));
});
afterAll(async () => {
  await lab.stop();
  expect(fs.existsSync(lab.binDir)).toBe(false);
});

async function poll(collector: PollCollector, url: string | null = null, times = 1): Promise<Reading> {
  const live = liveContext(lab, url);
  const instance = collector.start();
  let reading: Reading = { samples: [] };
  for (let i = 0; i < times; i++) {
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, 400));
    reading = await instance.poll(live.ctx);
  }
  live.close();
  return reading;
}
const page = async (url: string): Promise<string> => (await fetch(url)).text();

describe("the lab's node, read by the real collectors", () => {
  it("is eight GPUs to dcgm-exporter's reader, two of them at work", async () => {
    const { samples, rejected } = await poll(dcgmExporter, lab.dcgmUrl);
    const gpus = samples.filter((s) => s.entity.kind === "gpu");
    expect(gpus).toHaveLength(8);
    expect(rejected ?? {}).toEqual({});
    const busy = gpus.filter((s) => s.values.gr_engine_active_ratio! > 0);
    expect(busy.map((s) => s.entity.labels.pod)).toEqual(["llm-0", "llm-0"]);
    for (const s of busy)
      for (const name of ["sm_active_ratio", "tensor_active_ratio", "dram_active_ratio", "nvlink_tx_bytes_per_s"])
        expect(s.values[name], name).toBeGreaterThan(0);
    for (const s of gpus)
      for (const name of ["power_w", "energy_j_total", "sm_clock_mhz", "temp_c", "fb_used_bytes"])
        expect(s.values[name], name).toBeGreaterThan(0);
  });

  it("holds one reading a collect interval", async () => {
    const energy = (text: string): string[] => text.split("\n").filter((l) => l.startsWith("DCGM_FI_DEV_POWER_USAGE{"));
    const [a, b] = await Promise.all([page(`${lab.dcgmUrl}/metrics`), page(`${lab.dcgmUrl}/metrics`)]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const c = await page(`${lab.dcgmUrl}/metrics`);
    expect(energy(a)).toHaveLength(8);
    expect(energy(c)).not.toEqual(energy(a));
    expect(energy(b).length).toBe(8);
  });

  it("is one vLLM server with load", async () => {
    const { samples } = await poll(serverMetrics);
    const server = samples.find((s) => s.entity.kind === "server")!;
    for (const name of [
      "running",
      "kv_usage_ratio",
      "kv_capacity_tokens",
      "prompt_tokens_total",
      "generation_tokens_total",
      "ttft_count_total",
    ])
      expect(server.values[name], name).toBeGreaterThan(0);
    expect(server.values.waiting).toBe(0);
    expect(server.values.preemptions_total).toBe(0);
  });

  it("is a host with processes, a control group and a network", async () => {
    const machine = (await poll(host)).samples[0]!;
    expect(machine.values.cpu_count).toBe(32);
    for (const name of ["cpu_user_s_total", "mem_available_bytes", "psi_cpu_some_s_total", "tcp_out_segs_total"])
      expect(machine.values[name], name).toBeGreaterThan(0);
    const group = (await poll(cgroup)).samples[0]!;
    expect(group.values.cpu_limit_cores).toBe(16);
    expect(group.values.cpu_s_total).toBeGreaterThan(0);
    expect(group.values.cfs_periods_total).toBeGreaterThan(0);
    const processes = (await poll(serverProcesses, null, 2)).samples;
    expect(processes.map((s) => s.entity.labels.role).sort()).toEqual(["api_server", "engine", "worker", "worker"]);
    const worker = processes.find((s) => s.entity.labels.role === "worker")!;
    expect(worker.values.hottest_thread_cores).toBeGreaterThan(0.3);
    const nic = (await poll(network)).samples[0]!;
    expect(nic.entity.key).toBe("nic:eth0");
    expect(nic.values.tx_bytes_total).toBeGreaterThan(0);
  });

  it("is eight GPUs to nvidia-smi's readers, GPM included", async () => {
    const live = liveContext(lab, null, 200);
    const readings = await readUntil(nvidiaSmiQuery, live, (all) => all.length >= 3);
    const rows = readings.flatMap((r) => r.samples);
    expect(new Set(rows.map((s) => s.entity.key)).size).toBe(8);
    expect(readings.flatMap((r) => Object.keys(r.rejected ?? {}))).toEqual([]);
    const busy = rows.find((s) => s.values.gpu_util_ratio! > 0.3)!;
    for (const name of [
      "power_w",
      "power_instant_w",
      "power_limit_w",
      "sm_clock_max_mhz",
      "fb_total_bytes",
      "mem_util_ratio",
      "pcie_link_gen",
    ])
      expect(busy.values[name], name).toBeGreaterThan(0);
    const gpm = await readUntil(nvidiaSmiDmon, liveContext(lab), (all) =>
      all.some((r) => r.samples.some((s) => s.values.sm_active_ratio! > 0)),
    );
    const active = gpm.flatMap((r) => r.samples).find((s) => s.values.sm_active_ratio! > 0)!;
    for (const name of ["dram_active_ratio", "nvlink_tx_bytes_per_s"]) expect(active.values[name], name).toBeGreaterThan(0);
  });

  it.skipIf(noPromtool)(`serves pages that promtool can parse${noPromtool ? " (skipped: promtool is not installed)" : ""}`, async () => {
    for (const url of [lab.dcgmUrl, lab.serverUrl]) {
      // 3 = style only: the programs that are imitated break the naming rules themselves.
      const run = spawnSync("promtool", ["check", "metrics"], { input: await page(`${url}/metrics`) });
      expect([0, 3], run.stderr.toString()).toContain(run.status);
    }
  });

  it("tells its models and version, and nothing else", async () => {
    expect(JSON.parse(await page(`${lab.serverUrl}/v1/models`))).toMatchObject({ data: [{ id: "llama-3.1-8b" }] });
    expect((await fetch(`${lab.serverUrl}/health`)).status).toBe(200);
    expect((await fetch(`${lab.serverUrl}/nothing`)).status).toBe(404);
    expect((await fetch(`${lab.dcgmUrl}/nothing`)).status).toBe(404);
  });
});
