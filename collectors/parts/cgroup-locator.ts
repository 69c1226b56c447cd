import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { type CgroupMount, parseCgroupMounts } from "../../src/text/proc-mountinfo.js";
import { type PidCgroups, parsePidCgroup } from "../../src/text/proc-pid-cgroup.js";
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

  get hasHierarchy(): boolean {
    return this.mounts.length > 0;
  }

  /** Folders of the groups of a process, given its `/proc/PID/cgroup`; null when none of them is visible. */
  async locate(cgroupText: string): Promise<CgroupFolders | null> {
    const groups = parsePidCgroup(cgroupText);
    const v2 = await this.find(
      this.mounts.find((m) => m.version === 2),
      groups.unified,
    );
    const cpu = await this.findV1("cpu", groups);
    const named = cpu ?? v2;
    if (named === null) return null;
    // Another hierarchy may hold the process in another group: what is counted there is not this group's.
    const same = (other: Located | null): string | null => (other?.path === named.path ? other.folder : null);
    return {
      path: named.path === "" ? "/" : named.path,
      v2: same(v2),
      cpu: cpu?.folder ?? null,
      cpuacct: same(await this.findV1("cpuacct", groups)),
      memory: same(await this.findV1("memory", groups)),
      // Which CPUs the process may use holds whatever the group is called.
      cpuset: (await this.findV1("cpuset", groups))?.folder ?? null,
    };
  }

  private findV1(controller: string, groups: PidCgroups): Promise<Located | null> {
    const mount = this.mounts.find((m) => m.controllers.includes(controller));
    return this.find(mount, groups.v1.get(controller) ?? null);
  }

  private async find(mount: CgroupMount | undefined, path: string | null): Promise<Located | null> {
    if (mount === undefined || path === null) return null;
    const at = (below: string): Located | null =>
      existsSync(mount.mount_point + below) ? { path: below, folder: mount.mount_point + below } : null;
    if (!path.startsWith("/..") && !mount.root.startsWith("/..")) {
      const root = mount.root === "/" ? "" : mount.root;
      if (path === root || path.startsWith(`${root}/`)) return at(path === "/" ? "" : path.slice(root.length).replace(/\/$/, ""));
      return null;
    }
    const suffix = path.replace(/^(\/\.\.)+/, "").replace(/\/$/, "");
    if (suffix === "") return null;
    const key = `${mount.mount_point}\n${suffix}`;
    let below = this.searched.get(key);
    if (below === undefined || (below !== null && at(below) === null)) {
      below = await searchFolder(mount.mount_point, suffix);
      this.searched.set(key, below);
    }
    return below === null ? null : at(below);
  }
}
