import { describe, expect, test } from "vitest";
import { nvidiaSmiInventory } from "../../collectors/nvidia-smi-inventory.js";
import { smiFixture } from "../text/nvidia-smi-fixtures.js";
import { fakeContext, NODE } from "./nvidia-smi-context.js";

const MIB = 1024 * 1024;
const UUID = (n: number): string => `GPU-aaaaaaaa-0000-4000-8000-00000000000${n}`;
const APPS = "--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory --format=csv";

const answers =
  (over: Partial<Record<string, string>> = {}) =>
  (args: readonly string[]): string =>
    ({
      "-q -x": smiFixture("590.48.01/query.xml"),
      "-L": `${smiFixture("590.48.01/list.txt")}  MIG 3g.40gb     Device  0: (UUID: MIG-1)\n`,
      "topo -m": smiFixture("590.48.01/topo-m.txt"),
      [APPS]: smiFixture("590.48.01/compute-apps.csv"),
      ...over,
    })[args.join(" ")] ?? "";

describe("nvidia-smi-inventory", () => {
  test("slow values, labels, MIG instances, manifest", async () => {
    const { ctx } = fakeContext({ run: answers() });
    const reading = await nvidiaSmiInventory.start().poll(ctx);
    const byKey = Object.fromEntries(reading.samples.map((s) => [s.entity.key, s]));
    expect(byKey[UUID(0)]?.entity).toEqual({
      kind: "gpu",
      node: NODE,
      key: UUID(0),
      labels: {
        index: "0",
        model: "NVIDIA H100 80GB HBM3",
        pci_bus_id: "00000000:10:00.0",
        pids: "4242",
        numa_node: "0",
        cpu_affinity: "0-31,64-95",
        topology: "GPU1=NV18,mlx5_0=PIX",
      },
    });
    expect(byKey[UUID(0)]?.values).toEqual({
      fb_total_bytes: 81559 * MIB,
      power_limit_w: 700,
      power_default_limit_w: 700,
      sm_clock_max_mhz: 1980,
      pcie_link_gen_max: 5,
      pcie_link_width_max: 16,
      pcie_replay_total: 3,
      ecc_uncorrected_total: 7,
      row_remap_correctable_total: 1,
      row_remap_uncorrectable_total: 2,
      row_remap_failed: 1,
    });
    expect(byKey[`${UUID(1)}/2`]).toMatchObject({
      entity: { labels: { index: "1", mig_profile: "3g.40gb", mig_uuid: "MIG-1", pids: "4243" } },
      values: { fb_used_bytes: 11 * MIB, fb_total_bytes: 40448 * MIB },
    });
    expect(byKey[`${UUID(1)}/0`]?.entity.labels).toMatchObject({ pids: "" });
    expect(reading.manifest).toEqual({
      gpu_count: "2",
      gpu_model: "NVIDIA H100 80GB HBM3",
      driver_version: "590.48.01",
      cuda_version: "13.1",
      gpu_topology: "2 GPUs, all NV18",
    });
    expect(reading.notice).toBeNull();
  });

  test("the layout is read once, until an unknown GPU appears", async () => {
    let xml = smiFixture("590.48.01/query.xml");
    const { ctx, calls } = fakeContext({ run: (args) => (args.join(" ") === "-q -x" ? xml : answers()(args)) });
    const collector = nvidiaSmiInventory.start();
    await collector.poll(ctx);
    await collector.poll(ctx);
    expect(calls.filter((c) => c.endsWith("topo -m"))).toHaveLength(1);
    xml = xml.replaceAll(UUID(1), "GPU-new");
    await collector.poll(ctx);
    expect(calls.filter((c) => c.endsWith("topo -m"))).toHaveLength(2);
  });

  test("processes that the document does not list are asked for", async () => {
    const xml = smiFixture("590.48.01/query.xml").replace(/<processes>[\s\S]*?<\/processes>/g, "<processes></processes>");
    const { ctx } = fakeContext({ run: answers({ "-q -x": xml }) });
    const reading = await nvidiaSmiInventory.start().poll(ctx);
    expect(reading.samples.map((s) => [s.entity.key, s.entity.labels["pids"]])).toEqual([
      [UUID(0), "4242"],
      [UUID(1) + "/2", ""],
      [UUID(1) + "/0", ""],
    ]);
  });

  test("the lesser calls may all fail", async () => {
    const { ctx } = fakeContext({
      run: (args) => (args.join(" ") === "-q -x" ? smiFixture("525.125.06/query.xml") : { timedOut: true, exitCode: null }),
    });
    const reading = await nvidiaSmiInventory.start().poll(ctx);
    expect(reading.samples[0]).toMatchObject({
      entity: { key: UUID(0), labels: { model: "Tesla T4", pids: "" } },
      values: { power_limit_w: 70 },
    });
    expect(reading.manifest).toEqual({ gpu_count: "1", gpu_model: "Tesla T4", driver_version: "525.125.06" });
  });

  test("good rows with a warning keep both", async () => {
    const warned = `${smiFixture("590.48.01/query.xml")}WARNING: infoROM is corrupted at gpu 0000:10:00.0\n`;
    const { ctx } = fakeContext({ run: (args) => (args.join(" ") === "-q -x" ? { stdout: warned, exitCode: 14 } : answers()(args)) });
    const reading = await nvidiaSmiInventory.start().poll(ctx);
    expect(reading.samples.length).toBeGreaterThan(0);
    expect(reading.notice).toMatch(/infoROM/);
  });

  test("no whole document is an error with the reason", async () => {
    const { ctx } = fakeContext({ run: () => ({ stdout: smiFixture("messages/version-mismatch.txt"), exitCode: 18 }) });
    await expect(nvidiaSmiInventory.start().poll(ctx)).rejects.toThrow(/version mismatch/);
    const cut = fakeContext({ run: () => smiFixture("590.48.01/query.xml").slice(0, 900) });
    await expect(nvidiaSmiInventory.start().poll(cut.ctx)).rejects.toThrow("no whole document");
    expect(await nvidiaSmiInventory.detect(fakeContext({}).ctx)).toMatchObject({ found: false, text: "nvidia-smi not found" });
  });
});
