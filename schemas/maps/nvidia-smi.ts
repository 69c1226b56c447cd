/**
 * What nvidia-smi's names and units mean in canonical columns. Names: `--help-query-gpu` of drivers 590 and 610 and captures of older
 * ones; GPM ids and their unit (MiB/s, printed as MB/s): NVML's `nvmlGpmMetricId_t`.
 */
export interface SmiColumn {
  /** Canonical column of the gpu kind. */
  readonly column: string;
  /** Units that may stand at the value or in the header; a number without unit is taken as this one. Empty = has none. */
  readonly units: readonly string[];
  /** Canonical value = printed value x factor / divisor; two numbers, so that 57 % is 0.57 and not 0.5700000000000001. */
  readonly factor: number;
  readonly divisor: number;
}

const MIB = 1024 * 1024;
const of = (column: string, units: readonly string[] = [], factor = 1, divisor = 1): SmiColumn => ({ column, units, factor, divisor });
const percent = (column: string): SmiColumn => of(column, ["%"], 1, 100);
const mib = (column: string): SmiColumn => of(column, ["MiB", "MB"], MIB);
const microseconds = (column: string): SmiColumn => of(column, ["us"], 1, 1e6);
const watt = (column: string): SmiColumn => of(column, ["W"]);
const mhz = (column: string): SmiColumn => of(column, ["MHz"]);

/** Other spellings of a `--query-gpu` field, to the name that is used here. Headers print the driver's own choice. */
export const SMI_FIELD_ALIASES: Readonly<Record<string, string>> = {
  gpu_name: "name",
  gpu_uuid: "uuid",
  gpu_bus_id: "pci.bus_id",
  "clocks.sm": "clocks.current.sm",
  "clocks.mem": "clocks.current.memory",
  "clocks.gr": "clocks.current.graphics",
  "clocks.max.mem": "clocks.max.memory",
  "gpu.power.draw.average": "power.draw.average",
  "gpu.power.draw.instant": "power.draw.instant",
  "gpu.power.current_limit": "enforced.power.limit",
  "gpu.power.default_limit": "power.default_limit",
  "gpu.power.requested_limit": "power.limit",
  "clocks_throttle_reasons.active": "clocks_event_reasons.active",
  "remapped_rows.sbe": "remapped_rows.correctable",
  "remapped_rows.dbe": "remapped_rows.uncorrectable",
};

/** `--query-gpu` fields with one canonical column. Where two fields name one column, the first of this list that holds a value wins. */
export const SMI_GPU_FIELDS: Readonly<Record<string, SmiColumn>> = {
  "utilization.gpu": percent("gpu_util_ratio"),
  "utilization.memory": percent("mem_util_ratio"),
  "memory.total": mib("fb_total_bytes"),
  "memory.reserved": mib("fb_reserved_bytes"),
  "memory.used": mib("fb_used_bytes"),
  "memory.free": mib("fb_free_bytes"),
  "temperature.gpu": of("temp_c", ["C"]),
  "temperature.memory": of("mem_temp_c", ["C"]),
  "power.draw": watt("power_w"),
  "power.draw.average": watt("power_w"),
  "power.draw.instant": watt("power_instant_w"),
  "enforced.power.limit": watt("power_limit_w"),
  "power.limit": watt("power_limit_w"),
  "power.default_limit": watt("power_default_limit_w"),
  "clocks.current.sm": mhz("sm_clock_mhz"),
  "clocks.max.sm": mhz("sm_clock_max_mhz"),
  "clocks.current.memory": mhz("mem_clock_mhz"),
  "clocks_event_reasons.active": of("clocks_event_mask"),
  "pcie.link.gen.gpucurrent": of("pcie_link_gen"),
  "pcie.link.gen.current": of("pcie_link_gen"),
  "pcie.link.gen.max": of("pcie_link_gen_max"),
  "pcie.link.width.current": of("pcie_link_width"),
  "pcie.link.width.max": of("pcie_link_width_max"),
  "ecc.errors.uncorrected.volatile.total": of("ecc_uncorrected_total"),
  "remapped_rows.correctable": of("row_remap_correctable_total"),
  "remapped_rows.uncorrectable": of("row_remap_uncorrectable_total"),
};

/** Columns that are the sum of several fields: a part that was printed but holds no number makes the sum missing. */
export const SMI_GPU_SUMS: readonly (SmiColumn & { readonly fields: readonly string[] })[] = [
  {
    ...microseconds("throttle_power_s_total"),
    fields: ["clocks_event_reasons_counters.sw_power_cap", "clocks_event_reasons_counters.hw_power_brake_slowdown"],
  },
  {
    ...microseconds("throttle_thermal_s_total"),
    fields: ["clocks_event_reasons_counters.sw_thermal_slowdown", "clocks_event_reasons_counters.hw_thermal_slowdown"],
  },
];

/** What the sampler asks for: per entry the spellings to try, best first. */
export const SMI_QUERY: readonly (readonly string[])[] = [
  ["timestamp"],
  ["index"],
  ["uuid", "gpu_uuid"],
  ["pci.bus_id", "gpu_bus_id"],
  ["name", "gpu_name"],
  ["utilization.gpu"],
  ["utilization.memory"],
  ["memory.total"],
  ["memory.reserved"],
  ["memory.used"],
  ["memory.free"],
  ["temperature.gpu"],
  ["temperature.memory"],
  ["power.draw", "power.draw.average"],
  ["power.draw.instant"],
  ["enforced.power.limit", "power.limit"],
  ["power.default_limit"],
  ["clocks.current.sm", "clocks.sm"],
  ["clocks.max.sm"],
  ["clocks.current.memory", "clocks.mem"],
  ["clocks_event_reasons.active", "clocks_throttle_reasons.active"],
  ["clocks_event_reasons_counters.sw_power_cap"],
  ["clocks_event_reasons_counters.hw_power_brake_slowdown"],
  ["clocks_event_reasons_counters.sw_thermal_slowdown"],
  ["clocks_event_reasons_counters.hw_thermal_slowdown"],
  ["pcie.link.gen.gpucurrent", "pcie.link.gen.current"],
  ["pcie.link.gen.max"],
  ["pcie.link.width.current"],
  ["pcie.link.width.max"],
  ["pstate"],
];

/**
 * `dmon` columns by header name, without the GPM ones. PCIe figures are 20 ms samples of a byte counter, not means;
 * their MB is taken as 2^20, as dmon's MB of memory is.
 */
export const SMI_DMON_COLUMNS: Readonly<Record<string, SmiColumn>> = {
  pwr: watt("power_w"),
  gtemp: of("temp_c", ["C"]),
  mtemp: of("mem_temp_c", ["C"]),
  sm: percent("gpu_util_ratio"),
  mem: percent("mem_util_ratio"),
  mclk: mhz("mem_clock_mhz"),
  pclk: mhz("sm_clock_mhz"),
  fb: mib("fb_used_bytes"),
  dbecc: of("ecc_uncorrected_total", ["errs"]),
  pci: of("pcie_replay_total", ["errs"]),
  rxpci: of("pcie_rx_bytes_per_s", ["MB/s"], MIB),
  txpci: of("pcie_tx_bytes_per_s", ["MB/s"], MIB),
};

export interface GpmMetric extends SmiColumn {
  readonly id: number;
  /** Name in dmon's header; null where no capture shows it: then the place among the GPM columns tells. */
  readonly header: string | null;
}

const gpm = (id: number, header: string, column: string): GpmMetric => ({ ...of(column, ["GPM:%", "%"], 1, 100), id, header });
const gpmRate = (id: number, column: string): GpmMetric => ({
  ...of(column, ["GPM:MB/s", "MB/s", "GPM:MiB/s", "MiB/s"], MIB),
  id,
  header: null,
});

/** The GPM metrics that have a canonical column, by ascending id: the order in which `dmon` appends them. */
export const SMI_GPM_METRICS: readonly GpmMetric[] = [
  gpm(1, "gract", "gr_engine_active_ratio"),
  gpm(2, "smutil", "sm_active_ratio"),
  gpm(3, "smocc", "sm_occupancy_ratio"),
  gpm(5, "mmaact", "tensor_active_ratio"),
  gpm(10, "dram", "dram_active_ratio"),
  gpm(11, "fp64", "fp64_active_ratio"),
  gpm(12, "fp32", "fp32_active_ratio"),
  gpm(13, "fp16", "fp16_active_ratio"),
  gpmRate(20, "pcie_tx_bytes_per_s"),
  gpmRate(21, "pcie_rx_bytes_per_s"),
  gpmRate(60, "nvlink_rx_bytes_per_s"),
  gpmRate(61, "nvlink_tx_bytes_per_s"),
];

/** What the sampler asks for. */
export const SMI_GPM_QUERY: readonly number[] = [1, 2, 3, 5, 10, 20, 21, 60, 61];
