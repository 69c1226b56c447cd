/** One mounted cgroup hierarchy. */
export interface CgroupMount {
  readonly version: 1 | 2;
  /** Path within the hierarchy that is mounted: `/`, or the container's own group when no cgroup namespace hides it. */
  readonly root: string;
  /** Where it is mounted, as the process whose mountinfo this is sees it. */
  readonly mount_point: string;
  /** Controllers of a v1 hierarchy (`cpu`, `cpuacct`, `name=systemd`); empty for v2. */
  readonly controllers: readonly string[];
}

/** The kernel writes blank, tab, newline and backslash of a path as octal. */
const unescapePath = (path: string): string => path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));

const V1_OPTIONS = /^(rw|ro|clone_children|noprefix|xattr|release_agent=.*|none|nosuid|nodev|noexec|relatime)$/;

/** The cgroup hierarchies in `/proc/PID/mountinfo` (`ID PARENT MAJ:MIN ROOT POINT OPTIONS [OPTIONAL…] - TYPE SOURCE SUPER`). */
export const parseCgroupMounts = (text: string): readonly CgroupMount[] => {
  const mounts: CgroupMount[] = [];
  for (const line of text.split("\n")) {
    const dash = line.indexOf(" - cgroup");
    if (dash < 0) continue;
    const cells = line.slice(0, dash).split(" ");
    const [type, , superOptions] = line.slice(dash + 3).split(" ");
    const [root, point] = [cells[3], cells[4]];
    if (root === undefined || point === undefined || (type !== "cgroup" && type !== "cgroup2")) continue;
    mounts.push({
      version: type === "cgroup2" ? 2 : 1,
      root: unescapePath(root),
      mount_point: unescapePath(point),
      controllers: type === "cgroup2" ? [] : (superOptions ?? "").split(",").filter((o) => o !== "" && !V1_OPTIONS.test(o)),
    });
  }
  return mounts;
};
