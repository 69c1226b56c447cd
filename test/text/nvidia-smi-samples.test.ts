import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SMI_GPM_QUERY, SMI_QUERY } from "../../schemas/maps/nvidia-smi.js";
import { parseComputeApps } from "../../src/text/nvidia-smi-compute-apps.js";
import { createSmiCsvReader } from "../../src/text/nvidia-smi-csv.js";
import { createDmonReader, type DmonOptions, type SmiDmonRow } from "../../src/text/nvidia-smi-dmon.js";
import { classifySmiEnd } from "../../src/text/nvidia-smi-errors.js";
import { chooseSmiFields, parseSmiFieldList } from "../../src/text/nvidia-smi-fields.js";
import { readGpuRow, type SmiGpuRow } from "../../src/text/nvidia-smi-gpu-row.js";
import { parseSmiList } from "../../src/text/nvidia-smi-list.js";
import { parseSmiNvlink, sumLinks } from "../../src/text/nvidia-smi-nvlink.js";
import { parseSmiTopo } from "../../src/text/nvidia-smi-topo.js";
import { parseSmiXml } from "../../src/text/nvidia-smi-xml.js";
import { hasSmiSamples, SMI_SAMPLES, smiSample } from "./nvidia-smi-fixtures.js";

const MIB = 1024 * 1024;

const gpuRows = (text: string, fields?: readonly string[]): SmiGpuRow[] => {
  const reader = createSmiCsvReader(fields ? { fields } : {});
  return text.split("\n").flatMap((line) => {
    const event = reader.push(line);
    return event.kind === "row" ? [readGpuRow(event.row)] : [];
  });
};

const dmonRows = (text: string, options: DmonOptions = {}): SmiDmonRow[] => {
  const reader = createDmonReader(options);
  return text.split("\n").flatMap((line) => {
    const event = reader.push(line);
    return event.kind === "row" ? [event.row] : [];
  });
};

describe.skipIf(!hasSmiSamples)("captures of real machines (skipped where ../shared/samples/nvidia-smi is not beside the checkout)", () => {
  // util %, memory util %, used and total MiB, power and momentary power W, SM and memory MHz; null = missing.
  test.each<[string, ...(number | null)[]]>([
    ["csv-all-h100-590.48.01-load.csv", 100, 11, 19818, 81559, 631.95, 625.68, 1980, 2619],
    ["csv-all-h100-590.48.01-idle.csv", 0, 0, 0, 81559, 69.85, 69.62, 345, 2619],
    ["csv-all-h100-mig-590.48.01-load.csv", null, null, 11125, 81559, 433.78, 447.35, 1980, 2619],
    ["csv-all-h200-590.48.01-load.csv", 100, 7, 32362, 143771, 627.4, 626.26, 1980, 3201],
    ["csv-all-l40s-595.80-load.csv", 9, 2, 1235, 46068, 110.23, 112.38, 2520, 9001],
    ["csv-all-rtx2080s-610.57.04-load.csv", 8, 3, 815, 8192, 98.14, 98.14, 2070, 7500],
    ["csv-all-rtx4080s-595.71.05-idle.csv", 0, 23, 596, 16376, 26.2, 28.77, 210, 405],
    ["csv-all-windows-610.62-load.csv", 7, 3, 1366, 8192, 97.99, 97.99, 2040, 7500],
  ])("%s", (file, util, memUtil, used, total, power, instant, sm, mem) => {
    const rows = gpuRows(smiSample(file));
    expect(rows).toHaveLength(1);
    const row = rows[0]!;
    const v = row.values;
    const missingOr = (value: number | null | undefined, scale: number) =>
      value == null ? undefined : scale === 100 ? value / 100 : value * scale;
    expect(row.fault).toBeNull();
    expect(row.uuid).toMatch(/^GPU-/);
    expect(row.stamp_us).toBeGreaterThan(0);
    expect([v["gpu_util_ratio"], v["mem_util_ratio"]]).toEqual([missingOr(util, 100), missingOr(memUtil, 100)]);
    expect([v["fb_used_bytes"], v["fb_total_bytes"]]).toEqual([missingOr(used, MIB), missingOr(total, MIB)]);
    expect([v["power_w"], v["power_instant_w"], v["sm_clock_mhz"], v["mem_clock_mhz"]]).toEqual([power, instant, sm, mem]);
    expect(Math.abs(v["fb_used_bytes"]! + v["fb_free_bytes"]! + v["fb_reserved_bytes"]! - v["fb_total_bytes"]!)).toBeLessThanOrEqual(
      2 * MIB,
    );
  });

  test("single facts of the captures", () => {
    const one = (file: string) => gpuRows(smiSample(file))[0]!.values;
    expect(one("csv-all-h100-590.48.01-load.csv")).toMatchObject({ clocks_event_mask: 0, mem_temp_c: 54 });
    expect(one("csv-all-h100-590.48.01-idle.csv")).toMatchObject({ clocks_event_mask: 1, pstate: 0 });
    expect(one("csv-all-l40s-595.80-load.csv")["mem_temp_c"]).toBeUndefined();
    expect(one("csv-all-l40s-595.80-load.csv")["throttle_power_s_total"]).toBeCloseTo(204.642816, 9);
    expect(one("csv-all-rtx2080s-610.57.04-load.csv")["throttle_power_s_total"]).toBeCloseTo(15820.333506, 9);
    expect(one("csv-all-rtx4080s-595.71.05-idle.csv")).toMatchObject({ pcie_link_gen: 1, pcie_link_gen_max: 4 });
  });

  test("rows without header, rows with trouble", () => {
    const a100 = [
      "timestamp",
      "name",
      "pci.bus_id",
      "driver_version",
      "pstate",
      "pcie.link.gen.max",
      "pcie.link.gen.current",
      "temperature.gpu",
    ];
    const rest = ["utilization.gpu", "utilization.memory", "memory.total", "memory.free", "memory.used"];
    const rows = gpuRows(smiSample("csv-a100x3-545.23.08-noheader-unordered.excerpt.csv"), [...a100, ...rest]);
    expect(rows).toHaveLength(7);
    expect(rows[4]).toMatchObject({ busId: "00000000:0B:00.0", values: { gpu_util_ratio: 0.03, fb_used_bytes: 38803 * MIB, pstate: 0 } });
    const titan = ["index", "uuid", "name", "temperature.gpu", "utilization.gpu", "memory.used", "memory.total"];
    expect(gpuRows(smiSample("csv-titanx8-noheader-nounits.excerpt.csv"), titan).map((r) => r.values["gpu_util_ratio"])).toEqual([
      0, 0.86, 0.85, 0.6, 0.84, 0.83, 0.83, 0.82,
    ]);
    expect(gpuRows(smiSample("csv-gpu-requires-reset.excerpt.csv"))[0]).toMatchObject({ fault: "requires_reset", values: {} });
    const win = gpuRows(smiSample("csv-win-442.19-unknown-error-cell.excerpt.csv"))[0];
    expect(win).toMatchObject({ fault: null, values: { power_w: 228.82, power_limit_w: 210 }, refused: { unknown_error: 1 } });
  });

  test("both field lists know all that is asked for", () => {
    for (const version of ["590.48.01", "610.57.04"]) {
      const known = parseSmiFieldList(smiSample(`help-query-gpu-${version}.txt`));
      expect(chooseSmiFields(SMI_QUERY, known, new Set())).toEqual(SMI_QUERY.map(([name]) => name));
    }
  });

  test("dmon", () => {
    const h100 = dmonRows(smiSample("dmon-h100-590.48.01-load.txt"));
    expect(h100.map((r) => r.values["power_w"])).toEqual([631, 634, 633, 634, 636]);
    expect(h100.map((r) => r.values["mem_util_ratio"])).toEqual([0.1, 0.1, 0.09, 0.09, 0.09]);
    const mig = dmonRows(smiSample("dmon-h100-mig-590.48.01-load.txt"));
    expect(mig.map((r) => [r.values["power_w"], r.values["gpu_util_ratio"]])).toEqual([438, 440, 437, 439, 439].map((w) => [w, undefined]));
    expect(dmonRows(smiSample("dmon-old-4xx.excerpt.txt"))[0]?.values).toMatchObject({ power_w: 270, sm_clock_mhz: 1875 });
    expect(dmonRows(smiSample("dmon-T-v100.excerpt.txt"))[0]).toMatchObject({
      values: { pcie_rx_bytes_per_s: 248 * MIB, pcie_tx_bytes_per_s: 34 * MIB },
      stamp_us: (4 * 3600 + 12 * 60 + 44) * 1e6,
    });
    expect(dmonRows(smiSample("dmon-pucvmet-DT-2026.excerpt.txt"))[0]?.values["pcie_tx_bytes_per_s"]).toBe(2 * MIB);
    const gpm = dmonRows(smiSample("dmon-gpm-1-2-13.excerpt.txt"), { gpmIds: [1, 2, 13] });
    expect(gpm.map((r) => r.gpm)).toEqual(["empty", "empty", "some", "some"]);
    expect(gpm[3]?.values).toMatchObject({ gr_engine_active_ratio: 0.09, sm_active_ratio: 0.08, fp16_active_ratio: 0 });
    const a100 = dmonRows(smiSample("dmon-gpm-a100-unsupported.excerpt.txt"), { gpmIds: [2, 3, 5] });
    expect(a100.map((r) => r.gpm)).toEqual(["empty", "empty", "empty", "empty"]);
  });

  test("nvlink, topo, -L, compute-apps", () => {
    expect(parseSmiNvlink(smiSample("nvlink-s-h100-590.48.01.txt"))[0]?.links.map((l) => l.speedBytesPerS)).toEqual(
      Array(18).fill(26.562e9),
    );
    expect(parseSmiNvlink(smiSample("nvlink-s-a100-multi.txt")).map((g) => g.links.length)).toEqual(Array(8).fill(12));
    const counters = parseSmiNvlink(smiSample("nvlink-gt-d-a100-pcie.excerpt.txt"))[0]!;
    expect(counters.links).toHaveLength(12);
    expect(sumLinks(counters.links, "txBytes")).toBeGreaterThan(99e6 * 1024);
    expect(sumLinks(parseSmiNvlink(smiSample("nvlink-gt-d-na-v100-580.excerpt.txt"))[0]!.links, "txBytes")).toBeNull();
    expect(parseSmiTopo(smiSample("topo-m-h100x4-nic.excerpt.txt")).rows[0]).toEqual({
      name: "GPU0",
      connections: { GPU1: "NV6", GPU2: "NV6", GPU3: "NV6", NIC0: "PIX", NIC1: "SYS", NIC2: "SYS", NIC3: "SYS" },
      cpuAffinity: "6,14,22,30",
      numaAffinity: "3",
    });
    expect(parseSmiList(smiSample("list-L-h100-mig-590.48.01.txt"))[0]?.mig.map((m) => m.profile)).toEqual([
      "3g.40gb",
      "2g.20gb",
      "1g.10gb",
      "1g.10gb",
    ]);
    expect(parseComputeApps(smiSample("compute-apps-h100-590.48.01-load.csv")).apps.map((a) => a.pid)).toEqual([11327, 11328, 11345]);
    expect(parseComputeApps(smiSample("compute-apps-h100-590.48.01-idle-header-only.csv"))).toEqual({
      apps: [],
      answered: true,
      rejected: 0,
    });
    expect(parseComputeApps(smiSample("compute-apps-windows-610.62-load.csv")).rejected).toBe(0);
  });

  test("every XML document is read", () => {
    const models = readdirSync(SMI_SAMPLES)
      .filter((name) => name.endsWith(".xml"))
      .map((name) => [name, parseSmiXml(smiSample(name))?.gpus.length]);
    expect(models.length).toBeGreaterThan(10);
    expect(models.filter(([, gpus]) => gpus !== 1)).toEqual([]);
    expect(parseSmiXml(smiSample("qx-a100-sxm4-v12.xml"))?.gpus[0]?.mig.map((m) => m.gpuInstance)).toEqual(["3", "4", "5", "6"]);
    expect(parseSmiXml(smiSample("qx-netdata-rtx-pro-6000-driver-580.xml"))?.gpus[0]?.values).toMatchObject({ power_w: 66.84 });
    expect(parseSmiXml(smiSample("qx-tesla-t4.xml"))?.gpus[0]?.processes.map((p) => p.type)).toEqual(["G", "C"]);
  });

  test.each([
    ["err-version-mismatch.stdout.txt", "version_mismatch"],
    ["err-no-driver.stdout.txt", "no_driver"],
    ["err-no-devices.stdout.txt", "no_devices"],
    ["err-nvml-unknown-error.stdout.txt", "nvml_unknown_error"],
    ["err-no-supported-gpus.stdout.txt", "no_supported_gpus"],
    ["err-invalid-field.stdout.txt", "invalid_field"],
    ["err-dmon-unsupported-415.27.stdout.txt", "not_supported"],
    ["err-device-handle.stdout.txt", "device_lost"],
  ])("%s is %s", (file, state) => {
    const problems = classifySmiEnd({ stdout: smiSample(file), stderr: "", exitCode: 255, timedOut: false, notFound: false });
    expect(problems.map((p) => p.state)).toEqual([state]);
  });

  test("no file upsets any reader", () => {
    const names = readdirSync(SMI_SAMPLES);
    expect(names.length).toBeGreaterThanOrEqual(76);
    for (const name of names) {
      const text = smiSample(name);
      gpuRows(text);
      dmonRows(text, { gpmIds: SMI_GPM_QUERY });
      parseComputeApps(text);
      parseSmiFieldList(text);
      parseSmiList(text);
      parseSmiNvlink(text);
      parseSmiTopo(text);
      parseSmiXml(text);
      classifySmiEnd({ stdout: text, stderr: "", exitCode: 0, timedOut: false, notFound: false });
    }
  });
});
