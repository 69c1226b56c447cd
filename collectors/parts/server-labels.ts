import type { ServerTarget } from "../../schemas/collector.js";
import type { ServerProcess } from "./find-server-processes.js";

const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::]"]);

/** Port of a server's URL when it names this machine; null otherwise. */
const localPort = (target: ServerTarget, node: string): number | null => {
  try {
    const url = new URL(target.url);
    if (!LOCAL_HOSTS.has(url.hostname) && url.hostname !== node) return null;
    return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  } catch {
    return null;
  }
};

/**
 * Which server each process belongs to, by pid: a process or an ancestor that the target names; else the target whose port on this
 * machine the process's front end listens on; else, when there is one target without pids and one server, of the same engine, that one.
 * Processes that belong to no target are left out.
 */
export const nameServers = (
  processes: readonly ServerProcess[],
  targets: readonly ServerTarget[],
  node: string,
): ReadonlyMap<number, ServerTarget> => {
  const byPid = new Map(targets.flatMap((t) => t.pids.map((pid) => [pid, t] as const)));
  const byPort = new Map<number, ServerTarget>();
  for (const target of targets) {
    const port = target.pids.length === 0 ? localPort(target, node) : null;
    if (port !== null) byPort.set(port, target);
  }
  const byRoot = new Map<number, ServerTarget>();
  for (const p of processes) {
    const target = p.port === null ? undefined : byPort.get(p.port);
    if (target !== undefined && (target.engine === null || target.engine === p.engine)) byRoot.set(p.root_pid, target);
  }
  const roots = new Map(processes.map((p) => [p.root_pid, p.engine]));
  const [only] = targets;
  const [root] = roots;
  if (targets.length === 1 && roots.size === 1 && only?.pids.length === 0 && root !== undefined && root[1] === only.engine)
    byRoot.set(root[0], only);

  const named = new Map<number, ServerTarget>();
  for (const p of processes) {
    const ancestor = p.lineage.find((pid) => byPid.has(pid));
    const target = (ancestor === undefined ? undefined : byPid.get(ancestor)) ?? byRoot.get(p.root_pid);
    if (target !== undefined) named.set(p.pid, target);
  }
  return named;
};

/** The pids that targets name. */
export const targetPids = (targets: readonly ServerTarget[]): ReadonlySet<number> => new Set(targets.flatMap((t) => t.pids));

/** Changes when the targets do: what was found must then be named again. */
export const targetsKey = (targets: readonly ServerTarget[]): string =>
  targets.map((t) => [t.name, t.url, t.engine ?? "", ...t.pids].join(" ")).join("\n");
