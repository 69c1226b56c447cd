import { execFile } from "node:child_process";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type LabNode, startLabNode } from "../../lab/lab-node.js";
import { parseComputeApps } from "../../src/text/nvidia-smi-compute-apps.js";
import { classifySmiEnd } from "../../src/text/nvidia-smi-errors.js";
import { parseSmiFieldList } from "../../src/text/nvidia-smi-fields.js";
import { parseSmiList } from "../../src/text/nvidia-smi-list.js";
import { parseSmiNvlink, sumLinks } from "../../src/text/nvidia-smi-nvlink.js";
import { parseSmiTopo } from "../../src/text/nvidia-smi-topo.js";
import { parseSmiXml } from "../../src/text/nvidia-smi-xml.js";

let lab: LabNode;
beforeAll(async () => {
  lab = await startLabNode({ seed: 5, gpus: 3, server: { tp: 2 } });
  await new Promise((resolve) => setTimeout(resolve, 600));
});
afterEach(() => lab.setSmiMode("normal"));
afterAll(() => lab.stop());

interface Ended {
  readonly stdout: string;
  readonly code: number | null;
}
const smi = (...args: string[]): Promise<Ended> => smiWithin(30_000, ...args);
const smiWithin = (timeout: number, ...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(path.join(lab.binDir, "nvidia-smi"), args, { timeout, killSignal: "SIGKILL" }, (error, stdout) => {
      resolve({ stdout, code: error ? (typeof error.code === "number" ? error.code : null) : 0 });
    });
  });

describe("the fake nvidia-smi", () => {
  it("lists GPUs, links, processes and the topology as the real one does", async () => {
    const listed = parseSmiList((await smi("-L")).stdout);
    expect(listed).toHaveLength(3);
    const links = parseSmiNvlink((await smi("nvlink", "-gt", "d")).stdout);
    expect(links.map((g) => g.uuid)).toEqual(listed.map((g) => g.uuid));
    expect(links[0]!.links).toHaveLength(18);
    expect(sumLinks(links[0]!.links, "txBytes")).toBeGreaterThan(0);
    expect(parseSmiNvlink((await smi("nvlink", "-s")).stdout)[0]!.links[0]!.speedBytesPerS).toBeGreaterThan(26e9);
    const apps = parseComputeApps(
      (await smi("--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory", "--format=csv,nounits")).stdout,
    );
    expect(apps.apps.map((a) => a.uuid)).toEqual(listed.slice(0, 2).map((g) => g.uuid));
    const topo = parseSmiTopo((await smi("topo", "-m")).stdout);
    expect(topo.rows[0]!.connections).toEqual({ GPU1: "NV18", GPU2: "NV18" });
  });

  it("prints a document that the XML reader takes", async () => {
    const log = parseSmiXml((await smi("-q", "-x")).stdout)!;
    expect(log.driver).toBe("580.105.08");
    expect(log.gpus).toHaveLength(3);
    expect(log.gpus[0]!.values.power_w).toBeGreaterThan(50);
    expect(log.gpus[0]!.values.fb_total_bytes).toBe(81559 * 1024 * 1024);
  });

  it("knows its fields and refuses others with the real complaint", async () => {
    const known = parseSmiFieldList((await smi("--help-query-gpu")).stdout);
    for (const name of ["utilization.gpu", "clocks.sm", "clocks_throttle_reasons.active", "power.draw.instant"])
      expect(known.has(name)).toBe(true);
    const refused = await smi("--query-gpu=index,cuda_version", "--format=csv");
    expect(refused).toEqual({ stdout: 'Field "cuda_version" is not a valid field to query.\n\n', code: 2 });
    expect((await smi("--frobnicate")).code).toBe(2);
  });

  it("picks devices by index and keeps the order of the fields", async () => {
    const { stdout } = await smi("--query-gpu=name,index,clocks.sm", "--format=csv", "-i", "2");
    expect(stdout).toBe("name, index, clocks.current.sm [MHz]\nNVIDIA H100 80GB HBM3, 2, 345 MHz\n");
    const counted = await smi("dmon", "-s", "p", "-c", "1");
    expect(counted.code).toBe(0);
    expect(counted.stdout.trim().split("\n")).toHaveLength(5);
  });

  it("hangs, talks garbage or loses its driver when told to", async () => {
    lab.setSmiMode("hang");
    expect(await smiWithin(1500, "-L")).toEqual({ stdout: "", code: null });
    lab.setSmiMode("exit");
    const gone = await smi("-L");
    expect(gone.code).toBe(9);
    expect(classifySmiEnd({ stdout: gone.stdout, stderr: "", exitCode: 9, timedOut: false, notFound: false })).not.toEqual([]);
    lab.setSmiMode("garbage");
    const garbage = await smi("-L");
    expect(parseSmiList(garbage.stdout)).toEqual([]);
  });
});
