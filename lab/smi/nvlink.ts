import type { SmiGpu } from "./query-fields.js";

const LINK_GB_S: Readonly<Record<number, string>> = { 18: "26.562", 12: "25" };
const title = (gpu: SmiGpu): string => `GPU ${gpu.index}: ${gpu.spec.name} (UUID: ${gpu.uuid})\n`;
const unsupported = "NVML: Unable to retrieve Nvlink information as all links are inActive\n";
/** Counters at start: a driver that has been up for a while. */
const BASE_KIB = 8_299_479;

/** `nvlink -s`. */
export function nvlinkStatus(gpus: readonly SmiGpu[]): string {
  return gpus
    .map((gpu) => {
      if (gpu.spec.nvlinks === 0) return title(gpu) + unsupported;
      const speed = LINK_GB_S[gpu.spec.nvlinks] ?? "25";
      return title(gpu) + Array.from({ length: gpu.spec.nvlinks }, (_, i) => `\t Link ${i}: ${speed} GB/s\n`).join("");
    })
    .join("");
}

/** `nvlink -gt d` (data) and `-gt r` (raw, with overhead): KiB since the driver was loaded. */
export function nvlinkCounters(gpus: readonly SmiGpu[], raw: boolean): string {
  const word = raw ? "Raw" : "Data";
  return gpus
    .map((gpu) => {
      if (gpu.spec.nvlinks === 0) return title(gpu) + unsupported;
      const kib = BASE_KIB + Math.round((gpu.reading.nvlink_bytes * (raw ? 1.15 : 1)) / 1024 / gpu.spec.nvlinks);
      const link = (i: number): string => `\t Link ${i}: ${word} Tx: ${kib + i} KiB\n\t Link ${i}: ${word} Rx: ${kib + i} KiB\n`;
      return title(gpu) + Array.from({ length: gpu.spec.nvlinks }, (_, i) => link(i)).join("");
    })
    .join("");
}
