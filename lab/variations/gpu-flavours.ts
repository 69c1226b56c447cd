import { gpuBusId, gpuUuid, readGpu } from "../../src/sim/gpu-reading.js";
import { GPUS } from "../../src/sim/hardware.js";
import type { InferenceNode } from "../../src/sim/inference-node.js";
import type { Random } from "../../src/sim/random.js";
import { dcgmFamilies } from "../dcgm-families.js";
import type { Family } from "../metric-family.js";
import type { Inputs } from "./variation.js";

/** Fields that dcgm-exporter's shipped list leaves out. */
const NOT_STOCK = /SM_ACTIVE|SM_OCCUPANCY|NVLINK|CLOCKS_EVENT|ENFORCED/;
const LINKS = /NVLINK|PCIE_[TR]X/;

/** The GPUs of one server as the chosen exporter shows them, means over [from_us, to_us]. */
export function gpuFamilies(node: InferenceNode, inputs: Inputs, from_us: number, to_us: number, noise: Random): Family[] {
  const gpus = node.gpus.length;
  if (inputs.gpu === "none") return [];
  if (inputs.gpu === "smi") return smiFamilies(node, gpus, from_us, to_us, noise);
  const families = dcgmFamilies(node, gpus, from_us, to_us, noise, true);
  const limit = readGpu(node, 0, from_us, to_us, noise).power_limit_w;
  const labels = families[0]!.samples.map((s) => s.labels);
  families.push({
    name: "DCGM_FI_DEV_ENFORCED_POWER_LIMIT",
    help: "Enforced power limit.",
    type: "gauge",
    samples: labels.map((l) => ({ labels: l, value: String(limit) })),
  });
  return families.filter((f) => (inputs.gpu !== "stock" || !NOT_STOCK.test(f.name)) && (inputs.links || !LINKS.test(f.name)));
}

/** nvidia_gpu_exporter: what nvidia-smi prints, in base units. No link rates. */
function smiFamilies(node: InferenceNode, gpus: number, from_us: number, to_us: number, noise: Random): Family[] {
  const spec = GPUS[node.scenario.server.gpu];
  const readings = Array.from({ length: gpus }, (_, i) => readGpu(node, i, from_us, to_us, noise));
  const uuid = (i: number): string => gpuUuid(node.scenario.seed, i).replace(/^GPU-/, "");
  const gauge = (name: string, value: (r: (typeof readings)[number]) => number): Family => ({
    name: `nvidia_smi_${name}`,
    help: "",
    type: "gauge",
    samples: readings.map((r, i) => ({ labels: { uuid: uuid(i) }, value: String(value(r)) })),
  });
  return [
    {
      ...gauge("gpu_info", () => 1),
      samples: readings.map((_, i) => ({
        labels: { uuid: uuid(i), index: String(i), name: spec.name, pci_bus_id: gpuBusId(i), driver_version: "580.105.08" },
        value: "1",
      })),
    },
    gauge("utilization_gpu_ratio", (r) => r.gpu_util / 100),
    gauge("utilization_memory_ratio", (r) => r.mem_util / 100),
    gauge("power_draw_watts", (r) => Math.round(r.power_w * 100) / 100),
    gauge("enforced_power_limit_watts", (r) => r.power_limit_w),
    gauge("power_default_limit_watts", () => spec.tdp_w),
    gauge("clocks_current_sm_clock_hz", (r) => r.sm_clock_mhz * 1e6),
    gauge("clocks_max_sm_clock_hz", () => spec.sm_clock_mhz * 1e6),
    gauge("clocks_current_memory_clock_hz", (r) => r.mem_clock_mhz * 1e6),
    gauge("temperature_gpu", (r) => r.temp_c),
    gauge("memory_used_bytes", (r) => r.fb_used_mib * 1048576),
    gauge("memory_total_bytes", () => spec.fb_mib * 1048576),
    gauge("clocks_event_reasons_active", (r) => r.clocks_event_mask),
  ];
}
