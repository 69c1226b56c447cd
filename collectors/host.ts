import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import { parseDiskStats } from "../src/text/proc-diskstats.js";
import { parseLoad1 } from "../src/text/proc-loadavg.js";
import { parseMemInfo, parseVmStat } from "../src/text/proc-memory.js";
import { parseTcp } from "../src/text/proc-net-snmp.js";
import { parsePressure } from "../src/text/proc-pressure.js";
import { parseProcStat } from "../src/text/proc-stat.js";
import { networkProcPath } from "./parts/network-proc-path.js";
import { presentValues } from "./parts/present-values.js";
import { readText } from "./parts/read-text.js";

type Values = Record<string, number | null | undefined>;

const cpuValues = (proc: string): Values => {
  const text = readText(`${proc}/stat`);
  if (text === null) return {};
  const stat = parseProcStat(text);
  return {
    cpu_user_s_total: stat.user_s,
    cpu_system_s_total: stat.system_s,
    cpu_idle_s_total: stat.idle_s,
    cpu_iowait_s_total: stat.iowait_s,
    cpu_steal_s_total: stat.steal_s,
    cpu_count: stat.cpu_count,
    context_switches_total: stat.context_switches,
    load1: parseLoad1(readText(`${proc}/loadavg`) ?? ""),
  };
};

const memoryValues = (proc: string): Values => {
  const memory = parseMemInfo(readText(`${proc}/meminfo`) ?? "");
  const vm = parseVmStat(readText(`${proc}/vmstat`) ?? "");
  return {
    mem_total_bytes: memory.total_bytes,
    mem_available_bytes: memory.available_bytes,
    swap_used_bytes: memory.swap_used_bytes,
    swap_in_pages_total: vm.swap_in_pages,
    swap_out_pages_total: vm.swap_out_pages,
    major_faults_total: vm.major_faults,
    oom_kills_total: vm.oom_kills,
  };
};

const pressureValues = (proc: string): Values => {
  const of = (resource: string) => parsePressure(readText(`${proc}/pressure/${resource}`) ?? "");
  const [cpu, memory, io] = [of("cpu"), of("memory"), of("io")];
  return {
    psi_cpu_some_s_total: cpu.some_s,
    psi_mem_some_s_total: memory.some_s,
    psi_mem_full_s_total: memory.full_s,
    psi_io_some_s_total: io.some_s,
    psi_io_full_s_total: io.full_s,
  };
};

const tcpValues = (proc: string): Values => {
  const net = networkProcPath(proc);
  const tcp = parseTcp(readText(`${net}/snmp`), readText(`${net}/netstat`));
  return {
    tcp_out_segs_total: tcp.out_segs,
    tcp_retrans_segs_total: tcp.retrans_segs,
    tcp_listen_overflows_total: tcp.listen_overflows,
    tcp_listen_drops_total: tcp.listen_drops,
    tcp_established: tcp.established,
  };
};

const readHost = (ctx: CollectorContext): Reading => {
  const { proc } = ctx.roots;
  const diskText = readText(`${proc}/diskstats`);
  const disks = parseDiskStats(diskText ?? "");
  // A machine without a disk of its own has done no disk I/O; one whose file cannot be read has done we know not how much.
  const sum = (pick: "read_bytes" | "written_bytes" | "busy_s"): number | null =>
    diskText === null ? null : [...disks.disks.values()].reduce((total, disk) => total + disk[pick], 0);
  const values = presentValues({
    ...cpuValues(proc),
    ...memoryValues(proc),
    ...pressureValues(proc),
    ...tcpValues(proc),
    disk_read_bytes_total: sum("read_bytes"),
    disk_written_bytes_total: sum("written_bytes"),
    disk_io_s_total: sum("busy_s"),
  });
  if (Object.keys(values).length === 0) return { samples: [], notice: `nothing under ${proc} can be read` };
  return {
    samples: [
      {
        entity: { kind: "host", node: ctx.node, key: ctx.node, labels: {} },
        ts_us: ctx.clock.wallUs(),
        epoch: ctx.clock.epoch(),
        values,
      },
    ],
    ...(disks.rejected > 0 ? { rejected: { diskstats_line: disks.rejected } } : {}),
    notice: values.psi_cpu_some_s_total === undefined ? `no ${proc}/pressure: the kernel keeps no pressure stall information` : null,
  };
};

/** CPU, memory, disk, pressure and TCP of the node, from `/proc`. */
export const host = defineCollector({
  name: "host",
  kinds: ["host"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 1000,
  window_ms: null,
  lag_ms: 0,
  detect: async (ctx) => {
    if (readText(`${ctx.roots.proc}/stat`) === null)
      return {
        found: false,
        text: `${ctx.roots.proc}/stat cannot be read`,
        mend: "set host.proc_root to where the node's /proc is mounted",
      };
    const pressure = readText(`${ctx.roots.proc}/pressure/cpu`) !== null;
    return {
      found: true,
      text: `${ctx.roots.proc}${pressure ? "" : ", without pressure stall information"}`,
      ...(pressure ? {} : { mend: "boot with psi=1" }),
    };
  },
  start: () => ({ poll: async (ctx) => readHost(ctx) }),
});
