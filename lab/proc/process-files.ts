import type { HostReading } from "../../src/sim/host-reading.js";
import type { HeldTree } from "./held-tree.js";
import type { LabProcess } from "./processes.js";

const START_TICKS = 54_321;
const ticks = (s: number): number => Math.floor(s * 100);

/** `/proc/PID/stat` (proc(5)): fields after those of interest are zero. */
function statLine(id: number, comm: string, ppid: number, cpu_s: number, threads: number, rss_kib: number): string {
  const user = ticks(cpu_s * 0.9);
  const system = ticks(cpu_s) - user;
  const head = `${id} (${comm.slice(0, 15)}) S ${ppid} ${ppid} ${ppid} 0 -1 4194304 12000 0 0 0 ${user} ${system} 0 0 20 0 ${threads} 0 ${START_TICKS}`;
  return `${head} ${rss_kib * 4096} ${Math.round(rss_kib / 4)} 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n`;
}

const schedstat = (cpu_s: number, wait_s: number): string =>
  `${Math.round(cpu_s * 1e9)} ${Math.round(wait_s * 1e9)} ${Math.round(100 + cpu_s * 900)}\n`;

/** Writes one process: the main thread does the work, the others sleep. */
export function writeProcess(tree: HeldTree, process: LabProcess, host: HostReading, cgroupPath: string): void {
  const { pid } = process;
  const { cpu_s, wait_s } = process.cpu(host);
  const comm = process.cmdline.length === 1 ? process.cmdline[0]! : "vllm";
  const threads = process.sleepers + 1;
  tree.write(`${pid}/stat`, statLine(pid, comm, process.ppid, cpu_s, threads, process.rss_kib));
  tree.write(`${pid}/schedstat`, schedstat(cpu_s, wait_s));
  tree.write(`${pid}/cmdline`, `${process.cmdline.join("\0")}\0`);
  tree.write(`${pid}/comm`, `${comm.slice(0, 15)}\n`);
  tree.write(`${pid}/cgroup`, `0::${cgroupPath}\n`);
  tree.write(
    `${pid}/status`,
    `Name:\t${comm.slice(0, 15)}\nState:\tS (sleeping)\nTgid:\t${pid}\nPid:\t${pid}\nPPid:\t${process.ppid}\nVmRSS:\t${process.rss_kib} kB\nThreads:\t${threads}\nvoluntary_ctxt_switches:\t${Math.round(cpu_s * 900)}\nnonvoluntary_ctxt_switches:\t${Math.round(wait_s * 250)}\n`,
  );
  tree.write(`${pid}/task/${pid}/stat`, statLine(pid, comm, process.ppid, cpu_s, threads, process.rss_kib));
  tree.write(`${pid}/task/${pid}/schedstat`, schedstat(cpu_s, wait_s));
  for (let i = 1; i <= process.sleepers; i++) {
    const tid = pid + 5000 + i;
    tree.write(`${pid}/task/${tid}/stat`, statLine(tid, comm, process.ppid, 0.01, threads, process.rss_kib));
    tree.write(`${pid}/task/${tid}/schedstat`, schedstat(0.01, 0.001));
  }
}
