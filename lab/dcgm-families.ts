import { type GpuReading, gpuBusId, gpuUuid, readGpu } from "../src/sim/gpu-reading.js";
import { GPUS } from "../src/sim/hardware.js";
import type { InferenceNode } from "../src/sim/inference-node.js";
import type { Random } from "../src/sim/random.js";
import { POD } from "../src/sim/scenario.js";
import type { Family } from "./metric-family.js";

export const DRIVER_VERSION = "580.105.08";

interface Field {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  readonly value: (r: GpuReading) => number;
  /** Printed with six decimals. */
  readonly float?: true;
}

const integer = (name: string, help: string, value: Field["value"], type: Field["type"] = "gauge"): Field => ({ name, help, type, value });
const float = (name: string, help: string, value: Field["value"]): Field => ({ name, help, type: "gauge", value, float: true });

/** In the order of DCGM's field ids, as the exporter prints them; PROF fields and event reasons switched on. */
const FIELDS: readonly Field[] = [
  integer("DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", (r) => r.sm_clock_mhz),
  integer("DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", (r) => r.mem_clock_mhz),
  integer("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "Current clock event reasons (bitmask).", (r) => r.clocks_event_mask),
  integer("DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C).", (r) => r.mem_temp_c),
  integer("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", (r) => r.temp_c),
  float("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", (r) => r.power_w),
  integer(
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "Total energy consumption since boot (in mJ).",
    (r) => Math.round(r.energy_mj),
    "counter",
  ),
  integer("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Total number of PCIe retries.", () => 0, "counter"),
  integer("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", (r) => r.gpu_util),
  integer("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", (r) => r.mem_util),
  integer("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", (r) => r.fb_free_mib),
  integer("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", (r) => r.fb_used_mib),
  integer("DCGM_FI_DEV_FB_RESERVED", "Framebuffer memory reserved (in MiB).", (r) => r.fb_reserved_mib),
  integer("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for uncorrectable errors", () => 0, "counter"),
  integer("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for correctable errors", () => 0, "counter"),
  integer("DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed", () => 0),
  float("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", (r) => r.gr),
  float("DCGM_FI_PROF_SM_ACTIVE", "The ratio of cycles an SM has at least 1 warp assigned.", (r) => r.sm),
  float("DCGM_FI_PROF_SM_OCCUPANCY", "The ratio of number of warps resident on an SM.", (r) => r.occupancy),
  float("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Ratio of cycles the tensor (HMMA) pipe is active.", (r) => r.tensor),
  float("DCGM_FI_PROF_DRAM_ACTIVE", "Ratio of cycles the device memory interface is active sending or receiving data.", (r) => r.dram),
  integer("DCGM_FI_PROF_PCIE_TX_BYTES", "The rate of data transmitted over the PCIe bus in bytes per second.", (r) => r.pcie_tx),
  integer("DCGM_FI_PROF_PCIE_RX_BYTES", "The rate of data received over the PCIe bus in bytes per second.", (r) => r.pcie_rx),
  integer("DCGM_FI_PROF_NVLINK_TX_BYTES", "The rate of data transmitted over NVLink in bytes per second.", (r) => r.nvlink_tx),
  integer("DCGM_FI_PROF_NVLINK_RX_BYTES", "The rate of data received over NVLink in bytes per second.", (r) => r.nvlink_rx),
];

/** Fields that say nothing in a recording. */
const RECORD_OMITS = /REMAP|REPLAY|RESERVED|MEMORY_TEMP/;

/** What dcgm-exporter shows of `gpus` GPUs for the collect interval [from_us, to_us]. */
export function dcgmFamilies(
  node: InferenceNode,
  gpus: number,
  from_us: number,
  to_us: number,
  noise: Random,
  recording = false,
): Family[] {
  const { server, seed } = node.scenario;
  const spec = GPUS[server.gpu];
  const readings = Array.from({ length: gpus }, (_, i) => readGpu(node, i, from_us, to_us, noise));
  const labels = readings.map(
    (_, i): Record<string, string> => ({
      gpu: String(i),
      UUID: gpuUuid(seed, i),
      pci_bus_id: gpuBusId(i),
      device: `nvidia${i}`,
      modelName: spec.name,
      Hostname: POD.host,
      ...(recording ? {} : { DCGM_FI_DRIVER_VERSION: DRIVER_VERSION }),
      ...(i < server.tp ? { container: POD.container, namespace: POD.namespace, pod: POD.pod } : {}),
    }),
  );
  const fields = FIELDS.filter((f) => !(recording && RECORD_OMITS.test(f.name)) && (spec.nvlinks > 0 || !f.name.includes("NVLINK")));
  return fields.map((f) => ({
    name: f.name,
    help: f.help,
    type: f.type,
    samples: readings.map((r, i) => ({ labels: labels[i]!, value: f.float ? f.value(r).toFixed(6) : String(f.value(r)) })),
  }));
}
