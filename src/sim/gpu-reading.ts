import { conditionsAt } from "./conditions.js";
import { GPUS, type GpuSpec } from "./hardware.js";
import { GPU, type InferenceNode } from "./inference-node.js";
import type { Random } from "./random.js";
import { kvBlocks } from "./scenario.js";

/** What a GPU's counters say of an interval; units as NVML and DCGM give them. */
export interface GpuReading {
  readonly gr: number;
  readonly sm: number;
  readonly occupancy: number;
  readonly tensor: number;
  readonly dram: number;
  /** Whole percent. */
  readonly gpu_util: number;
  readonly mem_util: number;
  readonly power_w: number;
  readonly power_instant_w: number;
  /** Enforced limit. */
  readonly power_limit_w: number;
  readonly energy_mj: number;
  readonly sm_clock_mhz: number;
  readonly mem_clock_mhz: number;
  readonly temp_c: number;
  readonly mem_temp_c: number;
  readonly clocks_event_mask: number;
  /** Microseconds since driver load with clocks held down by temperature. */
  readonly thermal_us: number;
  readonly fb_used_mib: number;
  readonly fb_free_mib: number;
  readonly fb_reserved_mib: number;
  readonly pcie_tx: number;
  readonly pcie_rx: number;
  readonly nvlink_tx: number;
  readonly nvlink_rx: number;
  /** Bytes per direction since driver load. */
  readonly nvlink_bytes: number;
}

const RESERVED_MIB = 551;
const THERMAL_BITS = 0x60;
const IDLE_BIT = 0x1;
const POWER_CAP_BIT = 0x4;

export const gpuUuid = (seed: number, index: number): string => {
  const hex = ((Math.imul(seed + 1, 2654435761) >>> 0) ^ Math.imul(index + 1, 40503)) >>> 0;
  return `GPU-${hex.toString(16).padStart(8, "0")}-0000-4000-8000-${String(index).padStart(12, "0")}`;
};

export const gpuBusId = (index: number): string => `00000000:${(0x10 + index * 0x10).toString(16).toUpperCase().padStart(2, "0")}:00.0`;

function idleReading(gpu: GpuSpec, to_us: number, noise: Random): GpuReading {
  const power = gpu.idle_w * 0.62 * (1 + 0.01 * noise.normal());
  return {
    gr: 0,
    sm: 0,
    occupancy: 0,
    tensor: 0,
    dram: 0,
    gpu_util: 0,
    mem_util: 0,
    power_w: power,
    power_instant_w: power,
    power_limit_w: gpu.tdp_w,
    energy_mj: 1e9 + (gpu.idle_w * 0.62 * to_us) / 1000,
    sm_clock_mhz: 345,
    mem_clock_mhz: gpu.mem_clock_mhz,
    temp_c: 33,
    mem_temp_c: 41,
    clocks_event_mask: IDLE_BIT,
    thermal_us: 0,
    fb_used_mib: 4,
    fb_free_mib: gpu.fb_mib - 4 - RESERVED_MIB,
    fb_reserved_mib: RESERVED_MIB,
    pcie_tx: 0,
    pcie_rx: 0,
    nvlink_tx: 0,
    nvlink_rx: 0,
    nvlink_bytes: 0,
  };
}

/**
 * GPU `index` of the node over [from_us, to_us]. The server holds the first GPUs; the others are idle. Power is the mean of
 * the last second, utilization of the last second, clocks and memory are momentary, the rest are means of the interval.
 */
export function readGpu(node: InferenceNode, index: number, from_us: number, to_us: number, noise: Random): GpuReading {
  const { server } = node.scenario;
  const gpu: GpuSpec = GPUS[server.gpu];
  const history = node.gpus[index];
  if (!history) return idleReading(gpu, to_us, noise);
  const { noise: NOISE, memUtil, occupancy } = node.physics.sensors;
  const now = conditionsAt(node.faults, server, to_us);
  const clock = now.clock[index]!;
  const mean = (channel: number): number => history.mean(channel, from_us, to_us);
  const ratio = (value: number, sd: number): number => Math.min(1, Math.max(0, value * (1 + sd * noise.normal())));
  const second = Math.max(0, to_us - 1e6);
  const busy = history.mean(GPU.gr, second, to_us);
  const power = history.mean(GPU.power_w, second, to_us);
  const warm = history.mean(GPU.power_w, Math.max(0, to_us - 10e6), to_us);
  const gr = mean(GPU.gr);
  const link = mean(GPU.link);
  const linkNoise = 1 + NOISE.link * noise.normal();
  const thermal = clock < 1 && !now.capped;
  const nvlink = gpu.nvlinks > 0 && now.pcie_bytes_per_s === null && !server.fabric;
  const pool = kvBlocks(server);
  const fb_used = Math.min(gpu.fb_mib - RESERVED_MIB - 1, Math.round(gpu.fb_mib * 0.905 + Math.min(8, pool % 7)));
  const temp = 30 + 48 * (warm / gpu.tdp_w) + (thermal ? 22 : 0) + 0.4 * noise.normal();
  const prompt = 1e6 + 4e7 * gr * (1 + 0.1 * noise.normal());
  return {
    gr: ratio(gr, 0.004),
    sm: ratio(mean(GPU.sm), NOISE.pipe / 2),
    occupancy: ratio(mean(GPU.sm) * occupancy, NOISE.pipe),
    tensor: ratio(mean(GPU.tensor), NOISE.pipe),
    dram: ratio(mean(GPU.dram), NOISE.pipe / 2),
    gpu_util: Math.min(100, Math.round(100 * busy * 1.005)),
    mem_util: Math.round(100 * Math.min(1, memUtil(history.mean(GPU.dram, second, to_us)))),
    power_w: Math.max(gpu.idle_w * 0.9, power * (1 + NOISE.power * noise.normal())),
    power_instant_w: Math.max(
      gpu.idle_w * 0.9,
      history.mean(GPU.power_w, Math.max(0, to_us - 50_000), to_us) * (1 + NOISE.power * noise.normal()),
    ),
    power_limit_w: now.capped ? Math.round(gpu.tdp_w * (0.35 + 0.45 * clock)) : gpu.tdp_w,
    energy_mj: 1e9 + history.integral(GPU.power_w, Math.floor(to_us / 100_000) * 100_000) / 1000,
    sm_clock_mhz: Math.round(Math.min(gpu.sm_clock_mhz, gpu.sm_clock_mhz * clock * (1 - Math.abs(NOISE.clock * noise.normal())))),
    mem_clock_mhz: gpu.mem_clock_mhz,
    temp_c: Math.round(temp),
    mem_temp_c: Math.round(temp + 8),
    clocks_event_mask: thermal ? THERMAL_BITS : clock < 1 ? POWER_CAP_BIT : busy === 0 ? IDLE_BIT : 0,
    thermal_us: Math.round(thermalUs(node, index, to_us)),
    fb_used_mib: fb_used,
    fb_free_mib: gpu.fb_mib - RESERVED_MIB - fb_used,
    fb_reserved_mib: RESERVED_MIB,
    pcie_tx: Math.max(0, Math.round(nvlink || server.fabric ? prompt * 0.6 : prompt * 0.6 + link * linkNoise)),
    pcie_rx: Math.max(0, Math.round(nvlink || server.fabric ? prompt : prompt + link * linkNoise)),
    nvlink_tx: nvlink ? Math.round(link * linkNoise) : 0,
    nvlink_rx: nvlink ? Math.round(link * (1 + NOISE.link * noise.normal())) : 0,
    nvlink_bytes: nvlink ? Math.round(history.integral(GPU.link, to_us) / 1e6) : 0,
  };
}

function thermalUs(node: InferenceNode, index: number, to_us: number): number {
  let us = 0;
  for (const fault of node.faults) {
    if (fault.kind !== "thermal" || (fault.rank !== undefined && fault.rank !== index)) continue;
    us += Math.max(0, Math.min(to_us, fault.end_us) - fault.start_us);
  }
  return us;
}
