import { type ProcessEntry, readArguments, readProcessTable } from "./process-table.js";
import { matchServerRole, type ServerRole, type ServerRoleMatch } from "./server-process-roles.js";

/** A process of an inference server. */
export interface ServerProcess extends ServerRoleMatch {
  readonly pid: number;
  /** Ticks since boot. (pid, start_ticks) names a process once and for all. */
  readonly start_ticks: number;
  /** Itself and its ancestors, nearest first. */
  readonly lineage: readonly number[];
  /** The topmost ancestor of the same engine: processes of one server share it. */
  readonly root_pid: number;
}

interface Known {
  readonly entry: ProcessEntry;
  readonly match: ServerRoleMatch | null;
  /** Was started by multiprocessing, or is a fork with the arguments of its parent: its place in the tree says what it does. */
  readonly isPythonChild: boolean;
  readonly fingerprint: string;
  looks: number;
}

/** A young process may still be about to exec or to set its title: its arguments are read again in this many scans. */
const LOOKS = 3;
/**
 * Processes that are no server's after so many looks are read again in one scan of this many. A node has hundreds; the price is that a
 * pid that is used again, or a shell that becomes a server late, is seen a minute later.
 */
const SETTLED_AGAIN = 4;
/** A child that only tracks shared memory for its parent. */
const isTracker = (args: readonly string[]): boolean => args.some((a) => a.includes("resource_tracker"));
const isSpawned = (args: readonly string[]): boolean =>
  args.some((a) => a.includes("multiprocessing.spawn") || a === "--multiprocessing-fork");

const lineageOf = (table: ReadonlyMap<number, ProcessEntry>, pid: number): readonly number[] => {
  const lineage: number[] = [];
  for (let at = table.get(pid); at !== undefined && !lineage.includes(at.pid); at = table.get(at.ppid)) lineage.push(at.pid);
  return lineage;
};

/** Finds processes of inference servers again and again; remembers what a process was so that its arguments are read a few times only. */
export class ServerProcessFinder {
  private known = new Map<number, Known>();
  private scans = 0;

  constructor(private readonly proc: string) {}

  /** All processes of the node's inference servers, by pid. `pids` are taken in with their names though nothing recognises them. */
  async find(pids: ReadonlySet<number> = new Set()): Promise<readonly ServerProcess[]> {
    const isFull = this.scans++ % SETTLED_AGAIN === 0;
    const table = readProcessTable(this.proc, (pid) => {
      const before = isFull ? undefined : this.known.get(pid);
      const isSettled = before !== undefined && before.looks >= LOOKS && before.match === null && !before.isPythonChild && !pids.has(pid);
      return isSettled ? before.entry : undefined;
    });
    const known = new Map<number, Known>();
    for (const entry of table.values()) known.set(entry.pid, await this.look(entry));
    this.known = known;
    const found: ServerProcess[] = [];
    for (const entry of table.values()) {
      const lineage = lineageOf(table, entry.pid);
      const match = this.roleOf(entry, lineage, pids);
      if (match === null) continue;
      const sameEngine = lineage.filter((pid) => pid === entry.pid || pids.has(pid) || known.get(pid)?.match?.engine === match.engine);
      found.push({ ...match, pid: entry.pid, start_ticks: entry.start_ticks, lineage, root_pid: sameEngine.at(-1) ?? entry.pid });
    }
    return found.sort((a, b) => a.pid - b.pid);
  }

  private async look(entry: ProcessEntry): Promise<Known> {
    const before = this.known.get(entry.pid);
    const isSame = before !== undefined && before.entry.start_ticks === entry.start_ticks && before.entry.comm === entry.comm;
    if (isSame && before.looks >= LOOKS) return before;
    const args = entry.is_kernel ? [] : await readArguments(this.proc, entry.pid);
    if (args === null) return isSame ? before : { entry, match: null, isPythonChild: false, fingerprint: "", looks: 0 };
    return {
      entry,
      match: isTracker(args) ? null : matchServerRole(args),
      isPythonChild: isSpawned(args),
      fingerprint: args.length === 0 ? "" : `${args.length} ${args.reduce((sum, a) => sum + a.length, 0)} ${args[0]}`,
      looks: (isSame ? before.looks : 0) + 1,
    };
  }

  private roleOf(entry: ProcessEntry, lineage: readonly number[], pids: ReadonlySet<number>): ServerRoleMatch | null {
    const self = this.known.get(entry.pid);
    const parent = this.known.get(lineage[1] ?? -1);
    const isFork = self?.match != null && self.fingerprint !== "" && self.fingerprint === parent?.fingerprint;
    if (self?.match != null && !isFork) return self.match;
    if (self?.isPythonChild || isFork) {
      // vLLM without the title package: below the front end comes the engine core, below that its workers.
      const above = lineage.slice(1).map((pid) => this.known.get(pid)?.match ?? null);
      const server = above.find((m) => m !== null);
      if (server == null) return null;
      const role: ServerRole =
        server.engine !== "vllm" ? "other" : parent?.match === server && !this.isForkAt(lineage, 1) ? "engine" : "worker";
      return { engine: server.engine, role, name: role, port: null, model: null };
    }
    return pids.has(entry.pid) ? { engine: "unknown", role: "api_server", name: entry.comm, port: null, model: null } : null;
  }

  private isForkAt(lineage: readonly number[], at: number): boolean {
    const [self, parent] = [this.known.get(lineage[at] ?? -1), this.known.get(lineage[at + 1] ?? -1)];
    return self !== undefined && self.fingerprint !== "" && self.fingerprint === parent?.fingerprint;
  }
}

/**
 * The processes of the node's inference servers, for discovery: engine, role, port and model of each. Only front ends have a port.
 * `roots.proc` is where the node's /proc is.
 */
export const findServerProcesses = (roots: { readonly proc: string }): Promise<readonly ServerProcess[]> =>
  new ServerProcessFinder(roots.proc).find();
