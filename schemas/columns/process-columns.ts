import { type ColumnSpec, counter, gauge } from "./column-spec.js";

/** Canonical columns of a process of an inference server, or of the cgroup or container that holds it (label `role`). */
export const PROCESS_COLUMNS: readonly ColumnSpec[] = [
  counter("cpu_s_total", "CPU seconds used"),
  gauge("cpu_limit_cores", "instant", "CPU limit in cores; absent without a limit", 0, 4096),
  gauge("threads", "instant", "Threads"),
  gauge("rss_bytes", "instant", "Resident memory"),
  gauge("hottest_thread_cores", "interval", "Cores used by the busiest thread since the previous reading", 0, 1.5),
  gauge("hottest_thread_tid", "instant", "Thread id of the busiest thread"),
  counter("run_wait_s_total", "Seconds runnable but waiting for a CPU (schedstat), summed over threads"),
  counter("involuntary_switches_total", "Involuntary context switches"),
  counter("major_faults_total", "Major page faults"),
  counter("cfs_periods_total", "CFS enforcement periods"),
  counter("cfs_throttled_periods_total", "CFS periods in which the group was throttled"),
  counter("cfs_throttled_s_total", "Seconds throttled, summed over CPUs"),
  counter("psi_cpu_some_s_total", "Time at least one task of the group waited for a CPU"),
  counter("psi_mem_some_s_total", "Time at least one task of the group waited for memory"),
  counter("psi_io_some_s_total", "Time at least one task of the group waited for I/O"),
  gauge("mem_bytes", "instant", "Memory charged to the group"),
  gauge("mem_limit_bytes", "instant", "Memory limit of the group"),
  counter("oom_kills_total", "Processes of the group killed for lack of memory"),
  gauge("start_time_s", "instant", "Start time, Unix seconds: a change means a restart"),
];
