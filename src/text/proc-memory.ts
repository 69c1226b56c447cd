import { lineValue } from "./proc-line-value.js";

/** Sizes in bytes; null = not given (MemAvailable is absent before Linux 3.14). */
export interface MemInfo {
  readonly total_bytes: number | null;
  readonly available_bytes: number | null;
  readonly swap_used_bytes: number | null;
}

/** Reads `/proc/meminfo`, whose `kB` are KiB. */
export const parseMemInfo = (text: string): MemInfo => {
  const bytes = (key: string): number | null => {
    const kib = lineValue(text, key);
    return kib === null ? null : kib * 1024;
  };
  const swapTotal = bytes("SwapTotal");
  const swapFree = bytes("SwapFree");
  return {
    total_bytes: bytes("MemTotal"),
    available_bytes: bytes("MemAvailable"),
    swap_used_bytes: swapTotal === null || swapFree === null ? null : Math.max(0, swapTotal - swapFree),
  };
};

/** Counters since boot; null = not given (`oom_kill` exists since Linux 4.13). */
export interface VmStat {
  readonly swap_in_pages: number | null;
  readonly swap_out_pages: number | null;
  readonly major_faults: number | null;
  readonly oom_kills: number | null;
}

/** Reads `/proc/vmstat`. */
export const parseVmStat = (text: string): VmStat => ({
  swap_in_pages: lineValue(text, "pswpin"),
  swap_out_pages: lineValue(text, "pswpout"),
  major_faults: lineValue(text, "pgmajfault"),
  oom_kills: lineValue(text, "oom_kill"),
});
