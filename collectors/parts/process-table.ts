import { splitCmdline } from "../../src/text/proc-pid-cmdline.js";
import { parsePidStat } from "../../src/text/proc-pid-stat.js";
import { listNames, readText, readTextAsync } from "./read-text.js";

/** One process of the node. */
export interface ProcessEntry {
  readonly pid: number;
  readonly ppid: number;
  readonly comm: string;
  readonly start_ticks: number;
  readonly is_kernel: boolean;
}

/** Time that the arguments of one process may take: reading them waits for that process's memory lock, for ever if it hangs in it. */
const ARGUMENTS_TIMEOUT_MS = 300;
let stuck = 0;

/**
 * The arguments of a process; empty for kernel threads, null when they cannot be read in time. While one such read hangs no other is
 * begun, because each holds a thread of the pool that all files share. Arguments may hold secrets: look at them, do not keep them.
 */
export const readArguments = async (proc: string, pid: number): Promise<readonly string[] | null> => {
  if (stuck > 0) return null;
  const reading = readTextAsync(`${proc}/${pid}/cmdline`);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, ARGUMENTS_TIMEOUT_MS, "late");
  });
  const text = await Promise.race([reading.then((t) => ({ t })), timeout]);
  clearTimeout(timer);
  if (text !== "late") return text.t === null ? null : splitCmdline(text.t);
  stuck++;
  void reading.then(() => stuck--);
  return null;
};

/**
 * All processes that are there and readable now. One that ends between the listing and its reading is left out. `settled` gives entries
 * that are taken over without reading them again.
 */
export const readProcessTable = (proc: string, settled?: (pid: number) => ProcessEntry | undefined): ReadonlyMap<number, ProcessEntry> => {
  const table = new Map<number, ProcessEntry>();
  for (const name of listNames(proc)) {
    if (!/^\d+$/.test(name)) continue;
    const before = settled?.(Number(name));
    if (before !== undefined) {
      table.set(before.pid, before);
      continue;
    }
    const stat = parsePidStat(readText(`${proc}/${name}/stat`) ?? "");
    if (stat === null || stat.state === "Z" || stat.state === "X") continue;
    table.set(stat.pid, { pid: stat.pid, ppid: stat.ppid, comm: stat.comm, start_ticks: stat.start_ticks, is_kernel: stat.is_kernel });
  }
  return table;
};
