import type { LiveNode } from "../live-node.js";
import { workerPids } from "../proc/processes.js";
import type { SmiGpu } from "./query-fields.js";
import type { CsvFormat } from "./query-gpu.js";

/** `-L`. */
export const gpuList = (gpus: readonly SmiGpu[]): string => gpus.map((g) => `GPU ${g.index}: ${g.spec.name} (UUID: ${g.uuid})\n`).join("");

/** `--query-compute-apps=…`: the workers of the server; the fields that are asked for in practice. */
export function computeApps(live: LiveNode, gpus: readonly SmiGpu[], fields: readonly string[], format: CsvFormat): string | null {
  const pids = workerPids(live.scenario.server.tp);
  const cells: Record<string, (gpu: SmiGpu) => string> = {
    timestamp: (g) => g.stamp,
    gpu_name: (g) => g.spec.name,
    gpu_bus_id: (g) => g.bus_id,
    gpu_serial: () => "[N/A]",
    gpu_uuid: (g) => g.uuid,
    pid: (g) => String(pids[g.index]),
    process_name: () => "VLLM::Worker",
    name: () => "VLLM::Worker",
    used_gpu_memory: (g) => (format.units ? `${g.reading.fb_used_mib} MiB` : String(g.reading.fb_used_mib)),
    used_memory: (g) => (format.units ? `${g.reading.fb_used_mib} MiB` : String(g.reading.fb_used_mib)),
  };
  if (fields.some((f) => cells[f] === undefined)) return null;
  const header = `${fields.map((f) => (f.startsWith("used_") ? `${f} [MiB]` : f)).join(", ")}\n`;
  const rows = gpus.filter((g) => pids[g.index] !== undefined).map((g) => `${fields.map((f) => cells[f]!(g)).join(", ")}\n`);
  return (format.header ? header : "") + rows.join("");
}

/** `topo -m`, with the underline codes that it prints even into a pipe. */
export function topology(gpus: readonly SmiGpu[]): string {
  const names = gpus.map((g) => `GPU${g.index}`);
  const link = gpus[0]?.spec.nvlinks ? `NV${gpus[0].spec.nvlinks}` : "SYS";
  const header = `\t\u001b[4m${[...names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"].join("\t")}\u001b[0m\n`;
  const rows = names.map((name, i) => `${name}\t${names.map((_, j) => (i === j ? " X " : link)).join("\t")}\t0-31\t0\t\tN/A\n`);
  return `${header}${rows.join("")}\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n  NV#  = Connection traversing a bonded set of # NVLinks\n`;
}
