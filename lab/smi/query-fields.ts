import { type GpuReading, gpuBusId, gpuUuid } from "../../src/sim/gpu-reading.js";
import { GPUS, type GpuSpec } from "../../src/sim/hardware.js";
import { DRIVER_VERSION } from "../dcgm-families.js";
import type { LiveNode } from "../live-node.js";

/** One GPU at the moment of a query. */
export interface SmiGpu {
  readonly index: number;
  readonly count: number;
  readonly uuid: string;
  readonly bus_id: string;
  readonly spec: GpuSpec;
  readonly reading: GpuReading;
  /** `YYYY/MM/DD HH:MM:SS.mmm`, local time, as nvidia-smi stamps its rows. */
  readonly stamp: string;
}

const pad = (n: number, digits = 2): string => String(n).padStart(digits, "0");

/** Local time without a zone. */
export function smiStamp(wall_ms: number): string {
  const d = new Date(wall_ms);
  const date = `${d.getFullYear()}/${pad(d.getMonth() + 1)}/${pad(d.getDate())}`;
  return `${date} ${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}.${pad(d.getMilliseconds(), 3)}`;
}

export interface SmiField {
  readonly name: string;
  readonly alias?: string;
  readonly unit?: string;
  readonly text: (gpu: SmiGpu) => string;
}

const bit = (mask: number, of: number): string => ((mask & of) !== 0 ? "Active" : "Not Active");
const hex16 = (mask: number): string => `0x${mask.toString(16).toUpperCase().padStart(16, "0")}`;
const field = (name: string, text: SmiField["text"], unit?: string, alias?: string): SmiField => ({
  name,
  text,
  ...(unit === undefined ? {} : { unit }),
  ...(alias === undefined ? {} : { alias }),
});

/** Names and units as driver 580 prints them. */
export const SMI_FIELDS: readonly SmiField[] = [
  field("timestamp", (g) => g.stamp),
  field("driver_version", () => DRIVER_VERSION),
  field("count", (g) => String(g.count)),
  field("name", (g) => g.spec.name, undefined, "gpu_name"),
  field("serial", () => "[N/A]", undefined, "gpu_serial"),
  field("uuid", (g) => g.uuid, undefined, "gpu_uuid"),
  field("pci.bus_id", (g) => g.bus_id, undefined, "gpu_bus_id"),
  field("pcie.link.gen.current", (g) => String(g.spec.pcie_gen)),
  field("pcie.link.gen.gpucurrent", (g) => String(g.spec.pcie_gen)),
  field("pcie.link.gen.max", (g) => String(g.spec.pcie_gen)),
  field("pcie.link.gen.gpumax", (g) => String(g.spec.pcie_gen)),
  field("pcie.link.width.current", () => "16"),
  field("pcie.link.width.max", () => "16"),
  field("index", (g) => String(g.index)),
  field("persistence_mode", () => "Enabled"),
  field("pstate", () => "P0"),
  field("clocks_event_reasons.supported", () => hex16(0x1ff), undefined, "clocks_throttle_reasons.supported"),
  field("clocks_event_reasons.active", (g) => hex16(g.reading.clocks_event_mask), undefined, "clocks_throttle_reasons.active"),
  field("clocks_event_reasons.gpu_idle", (g) => bit(g.reading.clocks_event_mask, 0x1)),
  field("clocks_event_reasons.sw_power_cap", (g) => bit(g.reading.clocks_event_mask, 0x4)),
  field("clocks_event_reasons.hw_slowdown", (g) => bit(g.reading.clocks_event_mask, 0x8)),
  field("clocks_event_reasons.sw_thermal_slowdown", (g) => bit(g.reading.clocks_event_mask, 0x20)),
  field("clocks_event_reasons.hw_thermal_slowdown", (g) => bit(g.reading.clocks_event_mask, 0x40)),
  field("clocks_event_reasons_counters.sw_power_cap", () => "0", "us"),
  field("clocks_event_reasons_counters.sync_boost", () => "0", "us"),
  field("clocks_event_reasons_counters.sw_thermal_slowdown", (g) => String(g.reading.thermal_us), "us"),
  field("clocks_event_reasons_counters.hw_thermal_slowdown", () => "0", "us"),
  field("clocks_event_reasons_counters.hw_power_brake_slowdown", () => "0", "us"),
  field("memory.total", (g) => String(g.spec.fb_mib), "MiB"),
  field("memory.reserved", (g) => String(g.reading.fb_reserved_mib), "MiB"),
  field("memory.used", (g) => String(g.reading.fb_used_mib), "MiB"),
  field("memory.free", (g) => String(g.reading.fb_free_mib), "MiB"),
  field("compute_mode", () => "Default"),
  field("utilization.gpu", (g) => String(g.reading.gpu_util), "%"),
  field("utilization.memory", (g) => String(g.reading.mem_util), "%"),
  field("ecc.errors.uncorrected.volatile.total", () => "0"),
  field("remapped_rows.correctable", () => "0"),
  field("remapped_rows.uncorrectable", () => "0"),
  field("remapped_rows.failure", () => "No"),
  field("temperature.gpu", (g) => String(g.reading.temp_c)),
  field("temperature.gpu.tlimit", (g) => String(87 - g.reading.temp_c)),
  field("temperature.memory", (g) => String(g.reading.mem_temp_c)),
  field("power.draw", (g) => g.reading.power_w.toFixed(2), "W"),
  field("power.draw.average", (g) => g.reading.power_w.toFixed(2), "W"),
  field("power.draw.instant", (g) => g.reading.power_instant_w.toFixed(2), "W"),
  field("power.limit", (g) => g.spec.tdp_w.toFixed(2), "W"),
  field("enforced.power.limit", (g) => g.spec.tdp_w.toFixed(2), "W"),
  field("power.default_limit", (g) => g.spec.tdp_w.toFixed(2), "W"),
  field("power.max_limit", (g) => g.spec.tdp_w.toFixed(2), "W"),
  field("clocks.current.graphics", (g) => String(g.reading.sm_clock_mhz), "MHz", "clocks.gr"),
  field("clocks.current.sm", (g) => String(g.reading.sm_clock_mhz), "MHz", "clocks.sm"),
  field("clocks.current.memory", (g) => String(g.reading.mem_clock_mhz), "MHz", "clocks.mem"),
  field("clocks.max.sm", (g) => String(g.spec.sm_clock_mhz), "MHz"),
  field("clocks.max.memory", (g) => String(g.spec.mem_clock_mhz), "MHz", "clocks.max.mem"),
  field("mig.mode.current", () => "Disabled"),
  field("gpu_recovery_action", () => "None"),
];

const byName = new Map(SMI_FIELDS.flatMap((f) => [[f.name, f] as const, ...(f.alias ? [[f.alias, f] as const] : [])]));

/** The field of that name or alias, or undefined. */
export const smiField = (name: string): SmiField | undefined => byName.get(name);

/** All GPUs now, with means over the last `window_us`. */
export function smiGpus(live: LiveNode, window_us: number): SmiGpu[] {
  const now = live.advance();
  const spec: GpuSpec = GPUS[live.scenario.server.gpu];
  const stamp = smiStamp(Math.round((live.epoch_us + now) / 1000));
  return live.readings(now - window_us, now).map((reading, index) => ({
    index,
    count: live.gpus,
    uuid: gpuUuid(live.scenario.seed, index),
    bus_id: gpuBusId(index),
    spec,
    reading,
    stamp,
  }));
}
