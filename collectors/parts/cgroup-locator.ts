import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { type CgroupMount, parseCgroupMounts } from "../../src/text/proc-mountinfo.js";
import { parsePidCgroup } from "../../src/text/proc-pid-cgroup.js";
import { readText } from "./read-text.js";

/** Where the files of one group are, by hierarchy; in hybrid mode CPU accounting is v1 and pressure v2. Null = not there. */
export interface CgroupFolders {
  /** Path of the group that limits the CPU, from the root of its hierarchy: names the group. */
  readonly path: string;
  readonly v2: string | null;
  readonly cpu: string | null;
  readonly cpuacct: string | null;
  readonly cpuset: string | null;
  readonly memory: string | null;
}

interface Located {
  readonly path: string;
  readonly folder: string;
}

/** A node with hundreds of pods has some thousand groups. */
const MAX_SEARCHED = 5000;

/** Reads `/proc/self/mountinfo`: the hierarchies below `sys`, or those below /sys when a tree stands in for the machine's. */
export const readCgroupMounts = (roots: { readonly proc: string; readonly sys: string }): readonly CgroupMount[] => {
  const mounts = parseCgroupMounts(readText(`${roots.proc}/self/mountinfo`) ?? "");
  const here = mounts.filter((m) => m.mount_point.startsWith(`${roots.sys}/`));
  if (here.length > 0) return here;
  return mounts
    .filter((m) => m.mount_point.startsWith("/sys/"))
    .map((m) => ({ ...m, mount_point: roots.sys + m.mount_point.slice("/sys".length) }));
};

/** The one folder below `top` whose path ends in `suffix`; null when there is none or it is not the only one. */
const searchFolder = async (top: string, suffix: string): Promise<string | null> => {
  const found: string[] = [];
  const queue = [""];
  for (let i = 0; i < queue.length && i < MAX_SEARCHED; i++) {
    const path = queue[i] ?? "";
    if (path.endsWith(suffix)) found.push(path);
    const entries = await readdir(top + path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) queue.push(`${path}/${entry.name}`);
  }
  return found.length === 1 ? (found[0] ?? null) : null;
};

/**
 * Finds groups. A path in `/proc/PID/cgroup` is relative to the reader's cgroup namespace, what is mounted may be the whole hierarchy or
 * the container's own group: the mount's root decides. A group outside of the namespace (`/../../POD/CONTAINER`, an agent in a container
 * that watches others) is searched by the end of its path.
 */
export class CgroupLocator {
  private readonly searched = new Map<string, string | null>();

  constructor(private readonly mounts: readonly CgroupMount[]) {}

  /** Folders of the groups of a process, given its `/proc/PID/cgroup`; null when none of them is visible. */
  locate(cgroupText: string): Promise<CgroupFolders | null> {
    const groups = parsePidCgroup(cgroupText);
    return this.folders((mount, controller) =>
      this.find(mount, controller === null ? groups.unified : (groups.v1.get(controller) ?? null)),
    );
  }

  /** Folders of the topmost visible group: the whole machine's, or inside a container the container's own. */
  locateTop(): Promise<CgroupFolders | null> {
    return this.folders(async (mount) => this.below(mount, ""));
  }

  private async folders(find: (mount: CgroupMount, controller: string | null) => Promise<Located | null>): Promise<CgroupFolders | null> {
    const of = async (controller: string | null): Promise<Located | null> => {
      const mount = this.mounts.find((m) => (controller === null ? m.version === 2 : m.controllers.includes(controller)));
      return mount === undefined ? null : find(mount, controller);
    };
    const [v2, cpu] = [await of(null), await of("cpu")];
    const named = cpu ?? v2;
    if (named === null) return null;
    // Another hierarchy may hold the process in another group: what is counted there is not this group's.
    const same = (other: Located | null): string | null => (other?.path === named.path ? other.folder : null);
    return {
      path: named.path === "" ? "/" : named.path,
      v2: same(v2),
      cpu: cpu?.folder ?? null,
      cpuacct: same(await of("cpuacct")),
      memory: same(await of("memory")),
      // Which CPUs the process may use holds whatever the group is called.
      cpuset: (await of("cpuset"))?.folder ?? null,
    };
  }

  private below(mount: CgroupMount, path: string): Located | null {
    const folder = mount.mount_point + path;
    return existsSync(folder) ? { path, folder } : null;
  }

  private async find(mount: CgroupMount, path: string | null): Promise<Located | null> {
    if (path === null) return null;
    if (!path.startsWith("/..") && !mount.root.startsWith("/..")) {
      const root = mount.root === "/" ? "" : mount.root;
      const isBelow = path === root || path.startsWith(`${root}/`);
      return isBelow ? this.below(mount, path.slice(root.length).replace(/\/$/, "")) : null;
    }
    const suffix = path.replace(/^(\/\.\.)+/, "").replace(/\/$/, "");
    if (suffix === "") return null;
    const key = `${mount.mount_point}\n${suffix}`;
    const before = this.searched.get(key);
    if (before !== undefined && (before === null || this.below(mount, before) !== null))
      return before === null ? null : this.below(mount, before);
    const found = await searchFolder(mount.mount_point, suffix);
    this.searched.set(key, found);
    return found === null ? null : this.below(mount, found);
  }
}
