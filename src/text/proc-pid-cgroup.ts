/** The groups of one process. */
export interface PidCgroups {
  /** Path in the unified (v2) hierarchy; null when there is none. */
  readonly unified: string | null;
  /** Path by v1 controller (`cpu`, `memory`, `name=systemd`). */
  readonly v1: ReadonlyMap<string, string>;
}

/**
 * Reads `/proc/PID/cgroup` (`0::/PATH`, `4:cpu,cpuacct:/PATH`). Paths are relative to the reader's cgroup namespace: a group
 * outside of it begins with `/..`. A path may hold colons. A removed group's ` (deleted)` is cut.
 */
export const parsePidCgroup = (text: string): PidCgroups => {
  let unified: string | null = null;
  const v1 = new Map<string, string>();
  for (const line of text.split("\n")) {
    const parts = /^\d+:([^:]*):(\/.*)$/.exec(line);
    if (parts?.[1] === undefined || parts[2] === undefined) continue;
    const path = parts[2].replace(/ \(deleted\)$/, "");
    if (parts[1] === "") unified = path;
    else for (const controller of parts[1].split(",")) v1.set(controller, path);
  }
  return { unified, v1 };
};
