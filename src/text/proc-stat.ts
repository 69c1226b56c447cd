import { CLK_TCK } from "./proc-clock-tick.js";
import { lineValue, parseCount } from "./proc-line-value.js";

/** What `/proc/stat` says of the whole machine. Null = not given. CPU times in seconds, summed over CPUs. */
export interface ProcStat {
  /** User and nice; the kernel counts guest time in here too. */
  readonly user_s: number | null;
  /** System, hard and soft interrupts. */
  readonly system_s: number | null;
  readonly idle_s: number | null;
  readonly iowait_s: number | null;
  readonly steal_s: number | null;
  /** Online CPUs: the number of `cpuN` lines. */
  readonly cpu_count: number | null;
  readonly context_switches: number | null;
  /** Boot time, Unix seconds. */
  readonly boot_time_s: number | null;
}

/** Reads `/proc/stat`. Old kernels lack the later cells of the `cpu` line: those are null. Never throws. */
export const parseProcStat = (text: string): ProcStat => {
  const end = text.indexOf("\n");
  const cells = (end < 0 ? text : text.slice(0, end)).trim().split(/\s+/);
  const ticks = (i: number): number | null => (cells[0] === "cpu" ? parseCount(cells[i]) : null);
  const seconds = (...parts: (number | null)[]): number | null => {
    const known = parts.filter((p) => p !== null);
    return known.length === 0 || parts[0] === null ? null : known.reduce((a, b) => a + b, 0) / CLK_TCK;
  };
  const cpus = text.match(/^cpu\d+ /gm)?.length ?? 0;
  return {
    user_s: seconds(ticks(1), ticks(2)),
    system_s: seconds(ticks(3), ticks(6), ticks(7)),
    idle_s: seconds(ticks(4)),
    iowait_s: seconds(ticks(5)),
    steal_s: seconds(ticks(8)),
    cpu_count: cpus > 0 ? cpus : null,
    context_switches: lineValue(text, "ctxt"),
    boot_time_s: lineValue(text, "btime"),
  };
};
