import fc from "fast-check";
import { expect, test } from "vitest";
import { SMI_GPM_QUERY } from "../../schemas/maps/nvidia-smi.js";
import { createDmonReader, type DmonOptions, type SmiDmonRow } from "../../src/text/nvidia-smi-dmon.js";
import { smiFixture } from "./nvidia-smi-fixtures.js";

const MIB = 1024 * 1024;

const readAll = (text: string, options: DmonOptions = {}) => {
  const reader = createDmonReader(options);
  const rows: SmiDmonRow[] = [];
  const other: string[] = [];
  for (const line of text.split("\n")) {
    const event = reader.push(line);
    if (event.kind === "row") rows.push(event.row);
    else if (event.kind === "problem") other.push(event.problem.state);
    else if (event.kind === "rejected") other.push(event.reason);
  }
  return { rows, other };
};

test("GPM: ratios, MiB rates by their place, first rows empty, header repeated, last row cut", () => {
  const columns = new Set(["gr_engine_active_ratio", "sm_active_ratio", "sm_occupancy_ratio", "tensor_active_ratio", "dram_active_ratio"]);
  const { rows, other } = readAll(smiFixture("590.48.01/dmon-gpm.txt"), { gpmIds: SMI_GPM_QUERY });
  expect(other).toEqual(["cell_count"]);
  expect(rows.map((r) => [r.index, r.gpm])).toEqual([
    [0, "empty"],
    [1, "empty"],
    [0, "some"],
    [1, "some"],
    [0, "some"],
  ]);
  expect(rows[2]?.stamp_us).toBe(Date.UTC(2026, 4, 4, 10, 0, 1) * 1000);
  expect(rows[2]?.values).toMatchObject({
    gr_engine_active_ratio: 0.99,
    sm_active_ratio: 0.88,
    sm_occupancy_ratio: 0.3,
    tensor_active_ratio: 0.57,
    dram_active_ratio: 0.61,
    pcie_tx_bytes_per_s: 100 * MIB,
    pcie_rx_bytes_per_s: 200 * MIB,
    nvlink_rx_bytes_per_s: 300 * MIB,
    nvlink_tx_bytes_per_s: 400 * MIB,
    power_w: 612,
  });
  const some = readAll(smiFixture("590.48.01/dmon-gpm.txt"), { gpmIds: SMI_GPM_QUERY, columns }).rows[2];
  expect(Object.keys(some?.values ?? {}).sort()).toEqual([...columns].sort());
});

test("GPM rates with no known name are not guessed when another number of columns was asked for", () => {
  const { rows } = readAll(smiFixture("590.48.01/dmon-gpm.txt"), { gpmIds: [1, 2] });
  expect(rows[2]?.values).toMatchObject({ gr_engine_active_ratio: 0.99, dram_active_ratio: 0.61 });
  expect(rows[2]?.values["pcie_tx_bytes_per_s"]).toBeUndefined();
});

test("PCIe samples; a lone dash, also a typeset one, is missing", () => {
  const { rows } = readAll(smiFixture("570.124.06/dmon-s-tu.txt"));
  expect(rows[0]).toMatchObject({
    gpm: "none",
    values: { pcie_rx_bytes_per_s: 248 * MIB, pcie_tx_bytes_per_s: 34 * MIB, gpu_util_ratio: 0.66 },
  });
  expect(rows[1]).toMatchObject({ values: { gpu_util_ratio: 0.65, mem_util_ratio: 0.16 }, refused: { not_available: 2 } });
});

test("comma separated", () => {
  const { rows } = readAll(smiFixture("570.124.06/dmon-csv.txt"));
  expect(rows[0]?.values).toEqual({
    power_w: 130,
    temp_c: 37,
    gpu_util_ratio: 0.66,
    pcie_rx_bytes_per_s: 248 * MIB,
    pcie_tx_bytes_per_s: 34 * MIB,
  });
});

test("a refusal is a problem, a row before any header is refused", () => {
  expect(readAll(smiFixture("messages/dmon-refused.txt")).other).toEqual(["not_supported"]);
  expect(readAll("    0    631     63").other).toEqual(["no_header"]);
});

test("property: the order of the columns does not matter", () => {
  const all = [
    ["pwr", "W", "631"],
    ["gtemp", "C", "63"],
    ["sm", "%", "100"],
    ["enc", "%", "-"],
    ["mclk", "MHz", "2619"],
    ["rxpci", "MB/s", "12"],
    ["txpci", "MB/s", "34"],
  ] as const;
  const want = readAll(
    `# gpu ${all.map((c) => c[0]).join(" ")}\n# Idx ${all.map((c) => c[1]).join(" ")}\n 3 ${all.map((c) => c[2]).join(" ")}`,
  ).rows[0];
  expect(want?.values["pcie_tx_bytes_per_s"]).toBe(34 * MIB);
  fc.assert(
    fc.property(fc.shuffledSubarray([...all], { minLength: all.length }), (order) => {
      const text = `# gpu ${order.map((c) => c[0]).join("  ")} \n# Idx ${order.map((c) => c[1]).join(" ")} \n 3 ${order.map((c) => c[2]).join("   ")} `;
      expect(readAll(text).rows[0]).toEqual(want);
    }),
  );
});

test("property: never throws", () => {
  const word = fc.constantFrom("#", "gpu", "pwr", "Idx", "W", "0", "-", "631", ",", "GPM:%", "gract", "\t");
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 8 }), { maxLength: 10 }), (lines) => {
      readAll(lines.map((words) => words.join(" ")).join("\n"), { gpmIds: [1] });
    }),
  );
});
