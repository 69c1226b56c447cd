import { known, type Labels, type MapRule, pick, type SourceMap } from "./source-map.js";

const MIB = 2 ** 20;

const gpu = (column: string, rule: Partial<MapRule> = {}): MapRule => ({ kind: "gpu", column, blank: "small", ...rule });
const big = (column: string, rule: Partial<MapRule> = {}): MapRule => gpu(column, { blank: "int64", ...rule });
/** Names of exporter 4.9 and later, in base units. During a change-over both may be there: the new one counts. */
const renamed = { prefer: 1 } as const;

const percent = { scale: 0.01, limit: 100 } as const;

/** Fields of DCGM, by the exporter's name of them, since 2.0. Units: NVIDIA DCGM field reference; not the HELP text. */
const FIELDS: Record<string, MapRule> = {
  DCGM_FI_DEV_SM_CLOCK: gpu("sm_clock_mhz"),
  DCGM_FI_DEV_MEM_CLOCK: gpu("mem_clock_mhz"),
  DCGM_FI_DEV_MAX_SM_CLOCK: gpu("sm_clock_max_mhz"),
  // 0 degrees on cards without HBM says "no such sensor".
  DCGM_FI_DEV_MEMORY_TEMP: gpu("mem_temp_c", { zero: "unsupported" }),
  DCGM_FI_DEV_GPU_TEMP: gpu("temp_c"),
  DCGM_FI_DEV_POWER_USAGE: gpu("power_w"),
  DCGM_FI_DEV_POWER_USAGE_INSTANT: gpu("power_instant_w"),
  DCGM_FI_DEV_ENFORCED_POWER_LIMIT: gpu("power_limit_w"),
  DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF: gpu("power_default_limit_w"),
  DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION: big("energy_j_total", { scale: 1e-3 }),
  DCGM_FI_DEV_PCIE_REPLAY_COUNTER: big("pcie_replay_total"),
  DCGM_FI_DEV_GPU_UTIL: gpu("gpu_util_ratio", { ...percent, per_owner: "sum" }),
  DCGM_FI_DEV_MEM_COPY_UTIL: gpu("mem_util_ratio", percent),
  DCGM_FI_DEV_XID_ERRORS: gpu("xid"),
  DCGM_FI_DEV_PSTATE: gpu("pstate"),
  DCGM_FI_DEV_FB_FREE: gpu("fb_free_bytes", { scale: MIB }),
  DCGM_FI_DEV_FB_USED: gpu("fb_used_bytes", { scale: MIB, per_owner: "sum" }),
  DCGM_FI_DEV_FB_RESERVED: gpu("fb_reserved_bytes", { scale: MIB }),
  DCGM_FI_DEV_FB_TOTAL: gpu("fb_total_bytes", { scale: MIB }),
  // Typed counter by the exporter, but DCGM computes a mean rate in MB/s that goes up and down.
  DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL: gpu("nvlink_total_bytes_per_s", { scale: 1e6 }),
  DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS: gpu("row_remap_uncorrectable_total"),
  DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS: gpu("row_remap_correctable_total"),
  DCGM_FI_DEV_ROW_REMAP_FAILURE: gpu("row_remap_failed"),
  DCGM_FI_DEV_ECC_DBE_VOL_TOTAL: gpu("ecc_uncorrected_total"),
  DCGM_FI_DEV_CLOCK_THROTTLE_REASONS: gpu("clocks_event_mask"),
  DCGM_FI_DEV_CLOCKS_EVENT_REASONS: gpu("clocks_event_mask", renamed),
  DCGM_FI_DEV_POWER_VIOLATION: big("throttle_power_s_total", { scale: 1e-9 }),
  DCGM_FI_DEV_THERMAL_VIOLATION: big("throttle_thermal_s_total", { scale: 1e-9 }),
  DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS: big("throttle_power_s_total", { scale: 1e-9, prefer: 1 }),
  DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS: big("throttle_thermal_s_total", { scale: 1e-9, aggregate: "sum", prefer: 1 }),
  DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS: big("throttle_thermal_s_total", { scale: 1e-9, aggregate: "sum", prefer: 1 }),
  DCGM_FI_DEV_PCIE_MAX_LINK_GEN: gpu("pcie_link_gen_max"),
  DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH: gpu("pcie_link_width_max"),
  DCGM_FI_DEV_PCIE_LINK_GEN: gpu("pcie_link_gen"),
  DCGM_FI_DEV_PCIE_LINK_WIDTH: gpu("pcie_link_width"),
  DCGM_FI_PROF_GR_ENGINE_ACTIVE: gpu("gr_engine_active_ratio"),
  DCGM_FI_PROF_SM_ACTIVE: gpu("sm_active_ratio"),
  DCGM_FI_PROF_SM_OCCUPANCY: gpu("sm_occupancy_ratio"),
  DCGM_FI_PROF_PIPE_TENSOR_ACTIVE: gpu("tensor_active_ratio"),
  DCGM_FI_PROF_DRAM_ACTIVE: gpu("dram_active_ratio"),
  DCGM_FI_PROF_PIPE_FP64_ACTIVE: gpu("fp64_active_ratio"),
  DCGM_FI_PROF_PIPE_FP32_ACTIVE: gpu("fp32_active_ratio"),
  DCGM_FI_PROF_PIPE_FP16_ACTIVE: gpu("fp16_active_ratio"),
  // Often typed counter by a site's field list; bytes per second in truth.
  DCGM_FI_PROF_PCIE_TX_BYTES: big("pcie_tx_bytes_per_s"),
  DCGM_FI_PROF_PCIE_RX_BYTES: big("pcie_rx_bytes_per_s"),
  DCGM_FI_PROF_NVLINK_TX_BYTES: big("nvlink_tx_bytes_per_s"),
  DCGM_FI_PROF_NVLINK_RX_BYTES: big("nvlink_rx_bytes_per_s"),
};

const RENAMED_FIELDS: Record<string, MapRule> = {
  DCGM_FI_DEV_SM_CLOCK_HERTZ: gpu("sm_clock_mhz", { ...renamed, blank: "int64", scale: 1e-6 }),
  DCGM_FI_DEV_MEMORY_CLOCK_HERTZ: gpu("mem_clock_mhz", { ...renamed, blank: "int64", scale: 1e-6 }),
  DCGM_FI_DEV_SM_MAX_CLOCK_HERTZ: gpu("sm_clock_max_mhz", { ...renamed, blank: "int64", scale: 1e-6 }),
  DCGM_FI_DEV_MEMORY_TEMP_CELSIUS: gpu("mem_temp_c", { ...renamed, zero: "unsupported" }),
  DCGM_FI_DEV_GPU_TEMP_CELSIUS: gpu("temp_c", renamed),
  DCGM_FI_DEV_BOARD_POWER_WATTS: gpu("power_w", renamed),
  DCGM_FI_DEV_BOARD_POWER_RAW_WATTS: gpu("power_instant_w", renamed),
  DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL: big("energy_j_total", renamed),
  DCGM_FI_DEV_PCIE_REPLAY_TOTAL: big("pcie_replay_total", renamed),
  DCGM_FI_DEV_GPU_UTIL_RATIO: gpu("gpu_util_ratio", { ...renamed, per_owner: "sum" }),
  DCGM_FI_DEV_MEM_COPY_UTIL_RATIO: gpu("mem_util_ratio", renamed),
  DCGM_FI_DEV_XID_ERROR: gpu("xid", renamed),
  DCGM_FI_DEV_FB_FREE_BYTES: big("fb_free_bytes", renamed),
  DCGM_FI_DEV_FB_USED_BYTES: big("fb_used_bytes", { ...renamed, per_owner: "sum" }),
  DCGM_FI_DEV_FB_RESERVED_BYTES: big("fb_reserved_bytes", renamed),
  DCGM_FI_DEV_FB_CAPACITY_BYTES: big("fb_total_bytes", renamed),
  DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL: big("nvlink_total_bytes_per_s", renamed),
  DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL: gpu("row_remap_uncorrectable_total", renamed),
  DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL: gpu("row_remap_correctable_total", renamed),
  DCGM_FI_DEV_ROW_REMAP_FAILED: gpu("row_remap_failed", renamed),
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO: gpu("gr_engine_active_ratio", renamed),
  DCGM_FI_PROF_SM_UTIL_RATIO: gpu("sm_active_ratio", renamed),
  DCGM_FI_PROF_SM_OCCUPANCY_RATIO: gpu("sm_occupancy_ratio", renamed),
  DCGM_FI_PROF_TENSOR_UTIL_RATIO: gpu("tensor_active_ratio", renamed),
  DCGM_FI_PROF_DRAM_UTIL_RATIO: gpu("dram_active_ratio", renamed),
  DCGM_FI_PROF_FP64_UTIL_RATIO: gpu("fp64_active_ratio", renamed),
  DCGM_FI_PROF_FP32_UTIL_RATIO: gpu("fp32_active_ratio", renamed),
  DCGM_FI_PROF_FP16_UTIL_RATIO: gpu("fp16_active_ratio", renamed),
};

/** Names of exporter 1.x and of its compatibility field list, which do not follow the field's name. */
const OLD_NAMES: Record<string, MapRule> = {
  dcgm_sm_clock: gpu("sm_clock_mhz"),
  dcgm_memory_clock: gpu("mem_clock_mhz"),
  dcgm_memory_temp: gpu("mem_temp_c", { zero: "unsupported" }),
  dcgm_gpu_temp: gpu("temp_c"),
  dcgm_power_usage: gpu("power_w"),
  dcgm_total_energy_consumption: big("energy_j_total", { scale: 1e-3 }),
  dcgm_pcie_replay_counter: big("pcie_replay_total"),
  dcgm_gpu_utilization: gpu("gpu_util_ratio", { ...percent, per_owner: "sum" }),
  dcgm_mem_copy_utilization: gpu("mem_util_ratio", percent),
  dcgm_xid_errors: gpu("xid"),
  dcgm_fb_free: gpu("fb_free_bytes", { scale: MIB }),
  dcgm_fb_used: gpu("fb_used_bytes", { scale: MIB, per_owner: "sum" }),
  dcgm_power_violation: big("throttle_power_s_total", { scale: 1e-9 }),
  dcgm_thermal_violation: big("throttle_thermal_s_total", { scale: 1e-9 }),
};

const UNIT_SUFFIX = /_(bytes|ratio|watts|celsius|hertz|hz|joules|ns|total)$/i;

/** Rows of NVLinks, switches and Grace CPUs come from the same exporter and are no GPUs. */
function entity(_kind: string, labels: Labels): { key: string; labels: Labels; owner: string } | null {
  if (pick(labels, "nvlink", "nvswitch", "cpu", "cpucore") !== "") return null;
  const index = pick(labels, "gpu");
  const uuid = pick(labels, "UUID", "uuid", "gpu_uuid") || pick(labels, "pci_bus_id") || (index === "" ? "" : `index:${index}`);
  if (uuid === "") return null;
  const instance = pick(labels, "GPU_I_ID");
  // Behind a Prometheus without honor_labels, `pod` is the exporter's own and the workload's is `exported_pod`.
  const moved = labels.exported_pod !== undefined || labels.exported_namespace !== undefined;
  const pod = moved ? pick(labels, "exported_pod") : pick(labels, "pod", "pod_name");
  return {
    key: instance === "" ? uuid : `${uuid}/${instance}`,
    labels: known({
      index,
      model: pick(labels, "modelName", "model_name"),
      pci_bus_id: pick(labels, "pci_bus_id"),
      mig_profile: pick(labels, "GPU_I_PROFILE"),
      pod,
      namespace: moved ? pick(labels, "exported_namespace") : pick(labels, "namespace", "pod_namespace"),
      container: moved ? pick(labels, "exported_container") : pick(labels, "container", "container_name"),
    }),
    owner: pod || pick(labels, "vgpu", "hpc_job"),
  };
}

/** NVIDIA dcgm-exporter, 1.x (2019) to the names announced for 4.9. */
export const DCGM_MAP: SourceMap = {
  source: "dcgm-exporter",
  metrics: { ...FIELDS, ...RENAMED_FIELDS, ...OLD_NAMES },
  case_insensitive: true,
  entity,
  extra_prefix: "DCGM_FI_",
  extra: (name) => UNIT_SUFFIX.test(name),
  extra_kind: "gpu",
  entity_labels: [
    ...["gpu", "UUID", "uuid", "gpu_uuid", "pci_bus_id", "device", "modelName", "model_name", "GPU_I_PROFILE", "GPU_I_ID"],
    ...["Hostname", "hostname", "DCGM_FI_DRIVER_VERSION", "DCGM_FI_SYSTEM_DRIVER_VERSION", "container", "namespace", "pod", "pod_uid"],
    ...["exported_container", "exported_namespace", "exported_pod", "vgpu", "hpc_job", "instance", "job", "node"],
  ],
  manifest: {
    DCGM_FI_DRIVER_VERSION: "driver_version",
    DCGM_FI_SYSTEM_DRIVER_VERSION: "driver_version",
    modelName: "gpu_model",
    model_name: "gpu_model",
  },
};
