import { expect, test } from "vitest";
import { parseSmiXml } from "../../src/text/nvidia-smi-xml.js";
import { smiFixture } from "./nvidia-smi-fixtures.js";

const MIB = 1024 * 1024;
const text = smiFixture("590.48.01/query.xml");

test("values by path, lists, processes", () => {
  const log = parseSmiXml(text);
  expect(log).toMatchObject({ driver: "590.48.01", cuda: "13.1" });
  const [plain] = log?.gpus ?? [];
  expect(plain).toEqual({
    uuid: "GPU-aaaaaaaa-0000-4000-8000-000000000000",
    busId: "00000000:10:00.0",
    model: "NVIDIA H100 80GB HBM3",
    migEnabled: false,
    mig: [],
    processes: [
      { pid: 4242, type: "C", name: "VLLM::Worker & co", gpuInstance: null },
      { pid: 900, type: "G", name: "/usr/lib/xorg/Xorg", gpuInstance: null },
    ],
    refused: { not_available: 1 },
    values: {
      fb_total_bytes: 81559 * MIB,
      fb_reserved_bytes: 479 * MIB,
      fb_used_bytes: 61000 * MIB,
      fb_free_bytes: 20081 * MIB,
      gpu_util_ratio: 0.97,
      mem_util_ratio: 0.41,
      power_w: 612.5,
      power_instant_w: 633.01,
      power_limit_w: 700,
      power_default_limit_w: 700,
      sm_clock_mhz: 1980,
      sm_clock_max_mhz: 1980,
      mem_clock_mhz: 2619,
      pcie_link_gen: 5,
      pcie_link_gen_max: 5,
      pcie_link_width: 8,
      pcie_link_width_max: 16,
      pcie_replay_total: 3,
      pcie_tx_bytes_per_s: 1e6,
      ecc_uncorrected_total: 7,
      row_remap_correctable_total: 1,
      row_remap_uncorrectable_total: 2,
      row_remap_failed: 1,
      pstate: 0,
    },
  });
});

test("MIG instances, text in place of a tree, the one good power reading", () => {
  const gpu = parseSmiXml(text)?.gpus[1];
  expect(gpu).toMatchObject({ migEnabled: true, values: { power_w: 66.84, power_instant_w: 66.84 } });
  expect(gpu?.mig).toEqual([
    {
      index: 0,
      gpuInstance: "2",
      values: { fb_total_bytes: 40448 * MIB, fb_reserved_bytes: 0, fb_used_bytes: 11 * MIB, fb_free_bytes: 40437 * MIB },
    },
    {
      index: 1,
      gpuInstance: "0",
      values: { fb_total_bytes: 9856 * MIB, fb_reserved_bytes: 0, fb_used_bytes: 5 * MIB, fb_free_bytes: 9851 * MIB },
    },
  ]);
  expect(gpu?.processes).toEqual([{ pid: 4243, type: "M+C", name: "python3", gpuInstance: "2" }]);
  expect(gpu?.values["gpu_util_ratio"]).toBeUndefined();
});

test("older names, no DOCTYPE, an empty list of processes", () => {
  expect(parseSmiXml(smiFixture("525.125.06/query.xml"))).toMatchObject({
    driver: "525.125.06",
    cuda: null,
    gpus: [
      {
        model: "Tesla T4",
        processes: [],
        values: { power_w: 26.78, power_limit_w: 70, power_default_limit_w: 70, ecc_uncorrected_total: 7 },
      },
    ],
  });
});

test("newer names of the versions", () => {
  const log =
    "<nvidia_smi_log><driver_version>Deprecated, see kmd_version</driver_version><kmd_version>610.57.04</kmd_version></nvidia_smi_log>";
  expect(parseSmiXml(log)).toEqual({ driver: "610.57.04", cuda: null, gpus: [] });
});

test("the last whole document of a stream; messages around it do not matter", () => {
  expect(parseSmiXml(`WARNING: x\n${smiFixture("525.125.06/query.xml")}${text}<?xml version="1.0"?><nvidia_smi_log><gpu>`)?.driver).toBe(
    "590.48.01",
  );
});

test("what is no document is null", () => {
  for (const bad of ["", smiFixture("messages/no-driver.txt"), text.slice(0, text.length / 2), "</nvidia_smi_log>"])
    expect(parseSmiXml(bad)).toBeNull();
});

test("identifiers stay text", () => {
  const log = "<nvidia_smi_log><gpu id='00000000:01:00.0'><uuid>00000010</uuid><product_name>1e3</product_name></gpu></nvidia_smi_log>";
  expect(parseSmiXml(log)?.gpus[0]).toMatchObject({ uuid: "00000010", model: "1e3" });
});

test("entities of a document's own are not expanded", () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "${"z".repeat(100)}"><!ENTITY b "${"&a;".repeat(100)}">]>${text.replace("NVIDIA H100 80GB HBM3", "&b;")}`;
  expect(JSON.stringify(parseSmiXml(bomb)).length).toBeLessThan(5000);
});
