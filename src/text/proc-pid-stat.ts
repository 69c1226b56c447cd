import { CLK_TCK } from "./proc-clock-tick.js";
import { lineValue, parseCount } from "./proc-line-value.js";

/** One process or thread as `/proc/PID/stat` or `/proc/PID/task/TID/stat` gives it. */
export interface PidStat {
  readonly pid: number;
  /** Cut to 15 bytes by the kernel; may hold blanks and brackets. */
  readonly comm: string;
  readonly state: string;
  readonly ppid: number;
  /** A thread of the kernel itself: it has no arguments and no memory. */
  readonly is_kernel: boolean;
  /** User and system time, all threads for a process. */
  readonly cpu_s: number;
  readonly major_faults: number;
  readonly threads: number;
  /** Ticks since boot: with the pid it names a process once and for all, pid reuse included. */
  readonly start_ticks: number;
}

/** PF_KTHREAD of Linux include/linux/sched.h. */
const KERNEL_THREAD_FLAG = 0x200000;

/** Null when the text is no such line (an empty or cut read of a process that is just ending). Field numbers as in proc(5). */
export const parsePidStat = (text: string): PidStat | null => {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 1 || close < open) return null;
  // Field 3 is the first after the name, so field N is at N - 3.
  const cells = text.slice(close + 2).split(" ");
  const field = (n: number): number | null => parseCount(cells[n - 3]);
  const pid = parseCount(text.slice(0, open).trim());
  const [ppid, flags, majorFaults, utime, stime, threads, start] = [4, 9, 12, 14, 15, 20, 22].map(field);
  if (pid === null || ppid == null || majorFaults == null || utime == null || stime == null || threads == null || start == null)
    return null;
  return {
    pid,
    comm: text.slice(open + 1, close),
    state: cells[0] ?? "",
    ppid,
    is_kernel: flags != null && (flags & KERNEL_THREAD_FLAG) !== 0,
    cpu_s: (utime + stime) / CLK_TCK,
    major_faults: majorFaults,
    threads,
    start_ticks: start,
  };
};

/** Scheduler accounting of one thread. For `/proc/PID/schedstat` this is the main thread alone, not the process. */
export interface SchedStat {
  readonly run_s: number;
  readonly wait_s: number;
}

/**
 * Reads `RUN_NS WAIT_NS SLICES`. Null when it is no such line, or all three are 0: that is what a kernel without
 * scheduler statistics prints for every thread, and no thread that exists has run for no slice at all.
 */
export const parseSchedStat = (text: string): SchedStat | null => {
  const cells = text.trim().split(" ");
  const [run, wait, slices] = [parseCount(cells[0]), parseCount(cells[1]), parseCount(cells[2])];
  if (run === null || wait === null || slices === null || (run === 0 && wait === 0 && slices === 0)) return null;
  return { run_s: run / 1e9, wait_s: wait / 1e9 };
};

/** From `/proc/PID/status`; null = not given (kernel threads have no VmRSS). */
export interface PidStatus {
  readonly rss_bytes: number | null;
  /** Of the main thread alone: the kernel does not sum it over threads. */
  readonly involuntary_switches: number | null;
}

export const parsePidStatus = (text: string): PidStatus => {
  const rssKib = lineValue(text, "VmRSS");
  return { rss_bytes: rssKib === null ? null : rssKib * 1024, involuntary_switches: lineValue(text, "nonvoluntary_ctxt_switches") };
};
