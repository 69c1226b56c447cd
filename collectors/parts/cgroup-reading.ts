import { parseCpuacctUsage, parseV1CpuStat, parseV1MemoryLimit, v1CpuLimit } from "../../src/text/cgroup-v1.js";
import { countCpuList, parseCpuMax, parseOomKills, parseSingleCount, parseV2CpuStat } from "../../src/text/cgroup-v2.js";
import { parsePressure } from "../../src/text/proc-pressure.js";
import type { CgroupFolders } from "./cgroup-locator.js";
import { readText } from "./read-text.js";

type Values = Record<string, number | null>;

const textIn = (folder: string | null, file: string): string => (folder === null ? "" : (readText(`${folder}/${file}`) ?? ""));

/** The group's own quota in cores; null without one. */
const quotaOf = ({ cpu, v2 }: CgroupFolders): number | null =>
  cpu === null ? parseCpuMax(textIn(v2, "cpu.max")) : v1CpuLimit(textIn(cpu, "cpu.cfs_quota_us"), textIn(cpu, "cpu.cfs_period_us"));

const parentOf = (folders: CgroupFolders): CgroupFolders => {
  const { path } = folders;
  const up = path.slice(0, path.lastIndexOf("/"));
  const move = (folder: string | null): string | null =>
    folder?.endsWith(path) ? folder.slice(0, folder.length - path.length) + up : null;
  return {
    path: up === "" ? "/" : up,
    v2: move(folders.v2),
    cpu: move(folders.cpu),
    cpuacct: move(folders.cpuacct),
    memory: move(folders.memory),
    cpuset: folders.cpuset,
  };
};

/**
 * The group whose quota binds: the group itself when it has one or no ancestor has one, else the nearest ancestor with a quota (a pod's,
 * a systemd slice's). Throttling is counted there and not below.
 */
export const limitingGroup = (folders: CgroupFolders): CgroupFolders => {
  for (let at = folders; ; at = parentOf(at)) {
    if (quotaOf(at) !== null) return at;
    if (at.path === "/") return folders;
  }
};

/** Limits, which change rarely. The CPU limit is the smaller of the quota and a set of CPUs that is not all of them. */
export const readCgroupLimits = (folders: CgroupFolders, sys: string): Values => {
  const set = countCpuList(textIn(folders.v2, "cpuset.cpus.effective")) ?? countCpuList(textIn(folders.cpuset, "cpuset.effective_cpus"));
  const online = countCpuList(readText(`${sys}/devices/system/cpu/online`) ?? "");
  const limits = [quotaOf(folders), set !== null && online !== null && set < online ? set : null].filter((l) => l !== null);
  return {
    cpu_limit_cores: limits.length === 0 ? null : Math.min(...limits),
    mem_limit_bytes:
      folders.memory === null
        ? parseSingleCount(textIn(folders.v2, "memory.max"))
        : parseV1MemoryLimit(textIn(folders.memory, "memory.limit_in_bytes")),
  };
};

/** What the group has used up to now. All null when the group is gone. */
export const readCgroupUse = ({ v2, cpu, cpuacct, memory }: CgroupFolders): Values => {
  const stat = cpu === null ? parseV2CpuStat(textIn(v2, "cpu.stat")) : parseV1CpuStat(textIn(cpu, "cpu.stat"));
  const pressure = (file: string): number | null => parsePressure(textIn(v2, file)).some_s;
  return {
    cpu_s_total: cpu === null ? stat.usage_s : parseCpuacctUsage(textIn(cpuacct, "cpuacct.usage")),
    cfs_periods_total: stat.periods,
    cfs_throttled_periods_total: stat.throttled_periods,
    cfs_throttled_s_total: stat.throttled_s,
    threads: parseSingleCount(textIn(v2, "pids.current")),
    psi_cpu_some_s_total: pressure("cpu.pressure"),
    psi_mem_some_s_total: pressure("memory.pressure"),
    psi_io_some_s_total: pressure("io.pressure"),
    mem_bytes: parseSingleCount(memory === null ? textIn(v2, "memory.current") : textIn(memory, "memory.usage_in_bytes")),
    oom_kills_total: parseOomKills(memory === null ? textIn(v2, "memory.events") : textIn(memory, "memory.oom_control")),
  };
};
