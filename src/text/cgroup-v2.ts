import { lineValue, parseCount } from "./proc-line-value.js";

/** CPU accounting of a group, v1 or v2. Null = the file does not give it (the v2 root and groups without a quota may lack `nr_*`). */
export interface CpuStat {
  readonly usage_s: number | null;
  readonly periods: number | null;
  readonly throttled_periods: number | null;
  /** Summed over CPUs: may exceed the time that passed. */
  readonly throttled_s: number | null;
}

/** Reads v2 `cpu.stat` (microseconds). */
export const parseV2CpuStat = (text: string): CpuStat => {
  const seconds = (key: string): number | null => {
    const us = lineValue(text, key);
    return us === null ? null : us / 1e6;
  };
  return {
    usage_s: seconds("usage_usec"),
    periods: lineValue(text, "nr_periods"),
    throttled_periods: lineValue(text, "nr_throttled"),
    throttled_s: seconds("throttled_usec"),
  };
};

/** The limit in cores of v2 `cpu.max` (`600000 100000`); null without a limit (`max 100000`). */
export const parseCpuMax = (text: string): number | null => {
  const [quota, period] = text.trim().split(" ");
  const [quotaUs, periodUs] = [parseCount(quota), parseCount(period)];
  return quotaUs === null || periodUs === null || periodUs === 0 ? null : quotaUs / periodUs;
};

/** Reads `memory.current`, `memory.max`, `pids.current`: one number; `max` (no limit) is null. */
export const parseSingleCount = (text: string): number | null => parseCount(text.trim());

/** Processes killed by the OOM killer in the group: v2 `memory.events`, and v1 `memory.oom_control` since Linux 4.13. */
export const parseOomKills = (text: string): number | null => lineValue(text, "oom_kill");

/** Number of CPUs of a list such as `0-3,8,10-11`; null when it is empty (nothing set) or malformed. */
export const countCpuList = (text: string): number | null => {
  const list = text.trim();
  if (list === "") return null;
  let count = 0;
  for (const part of list.split(",")) {
    const ends = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (ends === null) return null;
    const span = Number(ends[2] ?? ends[1]) - Number(ends[1]) + 1;
    if (span < 1) return null;
    count += span;
  }
  return count;
};
