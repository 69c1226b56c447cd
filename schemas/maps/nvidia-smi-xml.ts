import type { SmiColumn } from "./nvidia-smi.js";

/**
 * Where `nvidia-smi -q -x` keeps what has a canonical column. Paths are below a `gpu` or `mig_device` element, best first: the number of
 * the DTD does not fix the names, so each is tried. Source: documents of drivers 418 to 595.
 */
export interface SmiXmlField extends SmiColumn {
  readonly paths: readonly string[];
}

const at = (column: string, units: readonly string[], factor: number, divisor: number, ...paths: string[]): SmiXmlField => ({
  column,
  units,
  factor,
  divisor,
  paths,
});
const MIB = 1024 * 1024;
const mib = (column: string, path: string): SmiXmlField => at(column, ["MiB"], MIB, 1, path);
const watt = (column: string, ...paths: string[]): SmiXmlField => at(column, ["W"], 1, 1, ...paths);
const mhz = (column: string, path: string): SmiXmlField => at(column, ["MHz"], 1, 1, path);
const plain = (column: string, ...paths: string[]): SmiXmlField => at(column, ["x"], 1, 1, ...paths);
const LINK = "pci/pci_gpu_link_info";

export const SMI_XML_MEMORY: readonly SmiXmlField[] = [
  mib("fb_total_bytes", "fb_memory_usage/total"),
  mib("fb_reserved_bytes", "fb_memory_usage/reserved"),
  mib("fb_used_bytes", "fb_memory_usage/used"),
  mib("fb_free_bytes", "fb_memory_usage/free"),
];

export const SMI_XML_FIELDS: readonly SmiXmlField[] = [
  ...SMI_XML_MEMORY,
  at("gpu_util_ratio", ["%"], 1, 100, "utilization/gpu_util"),
  at("mem_util_ratio", ["%"], 1, 100, "utilization/memory_util"),
  watt(
    "power_w",
    "gpu_power_readings/average_power_draw",
    "gpu_power_readings/power_draw",
    "power_readings/power_draw",
    "gpu_power_readings/instant_power_draw",
  ),
  watt("power_instant_w", "gpu_power_readings/instant_power_draw"),
  watt(
    "power_limit_w",
    "gpu_power_readings/current_power_limit",
    "power_readings/enforced_power_limit",
    "power_readings/power_limit",
    "gpu_power_readings/requested_power_limit",
  ),
  watt("power_default_limit_w", "gpu_power_readings/default_power_limit", "power_readings/default_power_limit"),
  at("temp_c", ["C"], 1, 1, "temperature/gpu_temp"),
  at("mem_temp_c", ["C"], 1, 1, "temperature/memory_temp"),
  mhz("sm_clock_mhz", "clocks/sm_clock"),
  mhz("sm_clock_max_mhz", "max_clocks/sm_clock"),
  mhz("mem_clock_mhz", "clocks/mem_clock"),
  plain("pcie_link_gen", `${LINK}/pcie_gen/device_current_link_gen`, `${LINK}/pcie_gen/current_link_gen`),
  plain("pcie_link_gen_max", `${LINK}/pcie_gen/max_link_gen`),
  plain("pcie_link_width", `${LINK}/link_widths/current_link_width`),
  plain("pcie_link_width_max", `${LINK}/link_widths/max_link_width`),
  plain("pcie_replay_total", "pci/replay_counter"),
  at("pcie_tx_bytes_per_s", ["KB/s"], 1000, 1, "pci/tx_util"),
  at("pcie_rx_bytes_per_s", ["KB/s"], 1000, 1, "pci/rx_util"),
  plain("row_remap_correctable_total", "remapped_rows/remapped_row_corr"),
  plain("row_remap_uncorrectable_total", "remapped_rows/remapped_row_unc"),
];

/** Uncorrected volatile ECC errors are the sum of the parts that a driver prints; the first group with a number counts. */
export const SMI_XML_ECC_GROUPS: readonly (readonly string[])[] = [
  ["ecc_errors/volatile/double_bit/total"],
  ["ecc_errors/volatile/dram_uncorrectable", "ecc_errors/volatile/sram_uncorrectable"],
  [
    "ecc_errors/volatile/dram_uncorrectable",
    "ecc_errors/volatile/sram_uncorrectable_parity",
    "ecc_errors/volatile/sram_uncorrectable_secded",
  ],
];

/** What changes slowly and is worth a slow call; momentary values come from the loop. */
export const SMI_INVENTORY_COLUMNS: ReadonlySet<string> = new Set([
  "fb_total_bytes",
  "power_limit_w",
  "power_default_limit_w",
  "sm_clock_max_mhz",
  "pcie_link_gen_max",
  "pcie_link_width_max",
  "pcie_replay_total",
  "ecc_uncorrected_total",
  "row_remap_correctable_total",
  "row_remap_uncorrectable_total",
  "row_remap_failed",
]);
