import type { CpuStat } from "./cgroup-v2.js";
import { lineValue, parseCount } from "./proc-line-value.js";

/** Reads v1 `cpu.stat`: `throttled_time` is in nanoseconds. CPU use is not in it (`cpuacct.usage`). */
export const parseV1CpuStat = (text: string): CpuStat => {
  const throttled = lineValue(text, "throttled_time");
  return {
    usage_s: null,
    periods: lineValue(text, "nr_periods"),
    throttled_periods: lineValue(text, "nr_throttled"),
    throttled_s: throttled === null ? null : throttled / 1e9,
  };
};

/** Reads v1 `cpuacct.usage` (nanoseconds, all CPUs) as seconds. */
export const parseCpuacctUsage = (text: string): number | null => {
  const ns = parseCount(text.trim());
  return ns === null ? null : ns / 1e9;
};

/** The limit in cores of `cpu.cfs_quota_us` and `cpu.cfs_period_us`; null without a limit (quota -1). */
export const v1CpuLimit = (quota: string, period: string): number | null => {
  const [quotaUs, periodUs] = [parseCount(quota.trim()), parseCount(period.trim())];
  return quotaUs === null || periodUs === null || periodUs === 0 ? null : quotaUs / periodUs;
};

/** v1 writes "no limit" as the largest page-aligned 64-bit number; anything of that size is none. */
const NO_LIMIT_BYTES = 2 ** 62;

/** Reads v1 `memory.limit_in_bytes`; null without a limit. */
export const parseV1MemoryLimit = (text: string): number | null => {
  const bytes = parseCount(text.trim());
  return bytes === null || bytes >= NO_LIMIT_BYTES ? null : bytes;
};
