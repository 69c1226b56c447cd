import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSmiCsvReader } from "../../src/text/nvidia-smi-csv.js";
import { chooseSmiFields, parseSmiFieldList } from "../../src/text/nvidia-smi-fields.js";
import { readGpuRow, type SmiGpuRow } from "../../src/text/nvidia-smi-gpu-row.js";
import { smiFixture } from "./nvidia-smi-fixtures.js";

const MIB = 1024 * 1024;

const readAll = (text: string, fields?: readonly string[]) => {
  const reader = createSmiCsvReader(fields ? { fields } : {});
  const rows: SmiGpuRow[] = [];
  const other: string[] = [];
  for (const line of text.split("\n")) {
    const event = reader.push(line);
    if (event.kind === "row") rows.push(readGpuRow(event.row));
    else if (event.kind === "problem") other.push(`problem ${event.problem.state}`);
    else if (event.kind === "rejected") other.push(`rejected ${event.reason}`);
    else if (event.kind === "header") other.push("header");
  }
  return { rows, other };
};

describe("--query-gpu", () => {
  test("a full row in canonical columns and units, header repeated", () => {
    const { rows, other } = readAll(smiFixture("590.48.01/query-gpu-2x-h100-nounits.csv"));
    expect(rows).toHaveLength(6);
    expect(other).toEqual(["header", "header"]);
    expect(rows[0]).toEqual({
      uuid: "GPU-aaaaaaaa-0000-4000-8000-000000000000",
      index: "0",
      busId: "00000000:10:00.0",
      model: "NVIDIA H100 80GB HBM3",
      driver: null,
      stamp_us: Date.UTC(2026, 4, 4, 10, 0, 0, 101) * 1000,
      fault: null,
      refused: {},
      values: {
        gpu_util_ratio: 0.97,
        mem_util_ratio: 0.41,
        fb_total_bytes: 81559 * MIB,
        fb_reserved_bytes: 479 * MIB,
        fb_used_bytes: 61000 * MIB,
        fb_free_bytes: 20081 * MIB,
        temp_c: 50,
        mem_temp_c: 60,
        power_w: 612.5,
        power_instant_w: 633.01,
        power_limit_w: 700,
        power_default_limit_w: 700,
        sm_clock_mhz: 1980,
        sm_clock_max_mhz: 1980,
        mem_clock_mhz: 2619,
        clocks_event_mask: 4,
        throttle_power_s_total: 3,
        throttle_thermal_s_total: 0.25,
        pcie_link_gen: 5,
        pcie_link_gen_max: 5,
        pcie_link_width: 16,
        pcie_link_width_max: 16,
        pstate: 0,
      },
    });
    // 57 * 0.01 would be 0.5700000000000001.
    expect(rows[4]?.values["gpu_util_ratio"]).toBe(0.57);
  });

  test("units in the cells, missing cells with their reasons, a second field for one column", () => {
    const { rows } = readAll(smiFixture("590.48.01/query-gpu-units.csv"));
    expect(rows[0]?.values).toEqual({ gpu_util_ratio: 0.57, fb_used_bytes: 1235 * MIB, power_w: 110.23, sm_clock_mhz: 2520 });
    expect(rows[0]?.refused).toEqual({ not_available: 2 });
    expect(rows[1]?.values).toEqual({ fb_used_bytes: 1235 * MIB, power_w: 109 });
    expect(rows[1]?.refused).toEqual({ not_available: 2, deprecated: 1 });
  });

  test("trouble in one cell, row or GPU leaves the others", () => {
    const { rows, other } = readAll(smiFixture("590.48.01/query-gpu-trouble.csv"));
    expect(other).toEqual(["header", "problem device_lost", "rejected cell_count", "problem inforom_corrupt"]);
    expect(rows.map((r) => [r.index, r.fault])).toEqual([
      ["0", null],
      ["1", "requires_reset"],
      ["2", null],
      ["4", null],
    ]);
    expect(rows[0]?.values).toEqual({ temp_c: 51, gpu_util_ratio: 0.97, fb_used_bytes: 61000 * MIB });
    expect(rows[1]?.values, "0 MiB beside a reset is not trusted").toEqual({});
    expect(rows[2]?.refused).toEqual({ out_of_range: 1 });
    expect(rows[2]?.values["gpu_util_ratio"]).toBeUndefined();
    expect(rows[3]?.refused).toEqual({ wrong_unit: 1 });
  });

  test("a part of a sum that is not a number makes the sum missing", () => {
    const head = "uuid, clocks_event_reasons_counters.sw_thermal_slowdown [us], clocks_event_reasons_counters.hw_thermal_slowdown [us]";
    const { rows } = readAll(`${head}\nGPU-1, 5, [N/A]\nGPU-1, 5, 7`);
    expect(rows[0]).toMatchObject({ values: {}, refused: { not_available: 1 } });
    expect(rows[1]?.values).toEqual({ throttle_thermal_s_total: 0.000012 });
  });

  test("without header the order that was asked for counts", () => {
    const { rows } = readAll("0, GPU-1, 55, 86 %, P8", ["index", "gpu_uuid", "temperature.gpu", "utilization.gpu", "pstate"]);
    expect(rows[0]).toMatchObject({ uuid: "GPU-1", values: { temp_c: 55, gpu_util_ratio: 0.86, pstate: 8 } });
    expect(readAll("0, GPU-1, 55").other).toEqual(["rejected no_header"]);
  });

  test("old names and new ones are the same column", () => {
    const { rows } = readAll("gpu_uuid, clocks.sm [MHz], clocks_throttle_reasons.active\nGPU-1, 1980 MHz, 0x0000000000000028");
    expect(rows[0]).toMatchObject({ uuid: "GPU-1", values: { sm_clock_mhz: 1980, clocks_event_mask: 0x28 } });
  });

  test("property: junk between good rows costs no good row and is counted", () => {
    const good = fc.nat({ max: 100 }).map((util) => ({ text: `GPU-1, ${util}`, util }));
    const junk = fc
      .constantFrom("", "Failed to initialize NVML: Unknown Error", "GPU-1, 5, 6", "half a", "uuid, utilization.gpu [%]", "\u0000\u0001")
      .map((text) => ({ text, util: null }));
    fc.assert(
      fc.property(fc.array(fc.oneof(good, junk), { maxLength: 40 }), (lines) => {
        const { rows } = readAll(["uuid, utilization.gpu [%]", ...lines.map((l) => l.text)].join("\n"));
        const want = lines.flatMap((l) => (l.util === null ? [] : [l.util / 100]));
        expect(rows.map((r) => r.values["gpu_util_ratio"])).toEqual(want);
      }),
    );
  });
});

describe("--help-query-gpu", () => {
  test("names and aliases, no quoted words of the explanations", () => {
    const known = parseSmiFieldList(smiFixture("590.48.01/help-query-gpu.txt"));
    expect([...known]).toEqual([
      "timestamp",
      "name",
      "gpu_name",
      "uuid",
      "gpu_uuid",
      "clocks_event_reasons.active",
      "clocks_throttle_reasons.active",
      "compute_mode",
      "power.draw.instant",
      "gpu.power.draw.instant",
    ]);
  });

  test("chooses the first spelling that a driver knows and has not refused", () => {
    const wanted = [["uuid"], ["clocks_event_reasons.active", "clocks_throttle_reasons.active"], ["power.draw.instant"]];
    const old = parseSmiFieldList(smiFixture("470.82.01/help-query-gpu.txt"));
    expect(chooseSmiFields(wanted, old, new Set())).toEqual(["uuid", "clocks_throttle_reasons.active"]);
    expect(chooseSmiFields(wanted, new Set(), new Set(["clocks_event_reasons.active"]))).toEqual([
      "uuid",
      "clocks_throttle_reasons.active",
      "power.draw.instant",
    ]);
  });
});
