import { known, type Labels, type MapRule, pick, type SourceMap } from "./source-map.js";

const gpu = (column: string, rule: Partial<MapRule> = {}): MapRule => ({ kind: "gpu", column, ...rule });
const hertz = { scale: 1e-6 } as const;

/** Its UUIDs are lower-case and without `GPU-`; with it they are those of DCGM and nvidia-smi. */
function entity(_kind: string, labels: Labels): { key: string; labels: Labels } | null {
  const uuid = pick(labels, "uuid", "UUID");
  if (uuid === "") return null;
  const instance = pick(labels, "gpu_instance_id");
  const key = /^[0-9a-f]{8}-[0-9a-f-]+$/i.test(uuid) ? `GPU-${uuid.toLowerCase()}` : uuid;
  return {
    key: instance === "" ? key : `${key}/${instance}`,
    labels: known({ index: pick(labels, "index"), model: pick(labels, "name"), pci_bus_id: pick(labels, "pci_bus_id") }),
  };
}

/** utkuozdemir/nvidia_gpu_exporter 0.x and 1.x: the query fields of nvidia-smi, and what its NVML backend adds. */
export const NVIDIA_GPU_EXPORTER_MAP: SourceMap = {
  source: "nvidia_gpu_exporter",
  metrics: {
    nvidia_smi_utilization_gpu_ratio: gpu("gpu_util_ratio"),
    nvidia_smi_utilization_memory_ratio: gpu("mem_util_ratio"),
    nvidia_smi_power_draw_watts: gpu("power_w"),
    nvidia_smi_power_draw_average_watts: gpu("power_w", { prefer: -1 }),
    nvidia_smi_power_draw_instant_watts: gpu("power_instant_w"),
    nvidia_smi_enforced_power_limit_watts: gpu("power_limit_w"),
    nvidia_smi_power_limit_watts: gpu("power_limit_w", { prefer: -1 }),
    nvidia_smi_power_default_limit_watts: gpu("power_default_limit_w"),
    nvidia_smi_energy_joules_total: gpu("energy_j_total"),
    nvidia_smi_clocks_current_sm_clock_hz: gpu("sm_clock_mhz", hertz),
    nvidia_smi_clocks_max_sm_clock_hz: gpu("sm_clock_max_mhz", hertz),
    nvidia_smi_clocks_current_memory_clock_hz: gpu("mem_clock_mhz", hertz),
    nvidia_smi_temperature_gpu: gpu("temp_c"),
    nvidia_smi_temperature_memory: gpu("mem_temp_c", { zero: "unsupported" }),
    nvidia_smi_memory_used_bytes: gpu("fb_used_bytes"),
    nvidia_smi_memory_free_bytes: gpu("fb_free_bytes"),
    nvidia_smi_memory_reserved_bytes: gpu("fb_reserved_bytes"),
    nvidia_smi_memory_total_bytes: gpu("fb_total_bytes"),
    nvidia_smi_mig_memory_used_bytes: gpu("fb_used_bytes"),
    nvidia_smi_mig_memory_free_bytes: gpu("fb_free_bytes"),
    nvidia_smi_mig_memory_total_bytes: gpu("fb_total_bytes"),
    nvidia_smi_mig_graphics_activity_ratio: gpu("gr_engine_active_ratio"),
    nvidia_smi_mig_sm_activity_ratio: gpu("sm_active_ratio"),
    nvidia_smi_mig_sm_occupancy_ratio: gpu("sm_occupancy_ratio"),
    nvidia_smi_mig_tensor_activity_ratio: gpu("tensor_active_ratio"),
    nvidia_smi_pcie_throughput_tx_bytes_per_second: gpu("pcie_tx_bytes_per_s"),
    nvidia_smi_pcie_throughput_rx_bytes_per_second: gpu("pcie_rx_bytes_per_s"),
    nvidia_smi_clocks_event_reasons_active: gpu("clocks_event_mask", { prefer: 1 }),
    nvidia_smi_clocks_throttle_reasons_active: gpu("clocks_event_mask"),
    nvidia_smi_clocks_event_reasons_counters_sw_power_cap_seconds: gpu("throttle_power_s_total"),
    nvidia_smi_clocks_event_reasons_counters_sw_thermal_slowdown_seconds: gpu("throttle_thermal_s_total", { aggregate: "sum" }),
    nvidia_smi_clocks_event_reasons_counters_hw_thermal_slowdown_seconds: gpu("throttle_thermal_s_total", { aggregate: "sum" }),
    nvidia_smi_pcie_link_gen_current: gpu("pcie_link_gen"),
    nvidia_smi_pcie_link_gen_max: gpu("pcie_link_gen_max"),
    nvidia_smi_pcie_link_width_current: gpu("pcie_link_width"),
    nvidia_smi_pcie_link_width_max: gpu("pcie_link_width_max"),
    nvidia_smi_ecc_errors_uncorrected_volatile_total: gpu("ecc_uncorrected_total"),
    nvidia_smi_remapped_rows_uncorrectable: gpu("row_remap_uncorrectable_total"),
    nvidia_smi_remapped_rows_correctable: gpu("row_remap_correctable_total"),
    nvidia_smi_remapped_rows_failure: gpu("row_remap_failed"),
    nvidia_smi_pstate: gpu("pstate"),
    // Carries the names of the GPU in its labels; its value 1 is nobody's reading.
    nvidia_smi_gpu_info: [],
  },
  entity,
  extra_kind: "gpu",
  manifest: { driver_version: "driver_version", name: "gpu_model", cuda_version: "cuda_version" },
};
