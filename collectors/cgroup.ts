import { type CollectorContext, defineCollector, type Reading } from "../schemas/collector.js";
import type { Sample } from "../schemas/samples.js";
import type { Mark } from "../schemas/telemetry.js";
import { type CgroupFolders, CgroupLocator, readCgroupMounts } from "./parts/cgroup-locator.js";
import { limitingGroup, readCgroupLimits, readCgroupUse } from "./parts/cgroup-reading.js";
import { ServerProcessFinder } from "./parts/find-server-processes.js";
import { presentValues } from "./parts/present-values.js";
import { readText } from "./parts/read-text.js";
import { nameServers, targetPids, targetsKey } from "./parts/server-labels.js";

const SCAN_EVERY_US = 30_000_000;
const SCAN_AFTER_LOSS_US = 2_000_000;
const MAX_GROUPS = 32;

interface Group {
  readonly folders: CgroupFolders;
  /** Names of the servers whose processes are in it. */
  readonly servers: ReadonlySet<string>;
  readonly limits: Readonly<Record<string, number | null>>;
}

class CgroupReader {
  private finder: ServerProcessFinder | null = null;
  private locator: CgroupLocator | null = null;
  private groups: readonly Group[] = [];
  private readonly oomKills = new Map<string, number>();
  private scannedUs = Number.NEGATIVE_INFINITY;
  private scannedFor = "";
  private isMissingOne = false;
  private notice: string | null = null;

  async poll(ctx: CollectorContext): Promise<Reading> {
    const age = ctx.clock.monoUs() - this.scannedUs;
    const isDue = age >= SCAN_EVERY_US || (this.isMissingOne && age >= SCAN_AFTER_LOSS_US);
    if (isDue || targetsKey(ctx.servers) !== this.scannedFor) await this.scan(ctx);
    const samples: Sample[] = [];
    const marks: Mark[] = [];
    for (const { folders, servers, limits } of this.groups) {
      const use = presentValues(readCgroupUse(folders));
      const ts_us = ctx.clock.wallUs();
      if (Object.keys(use).length === 0) {
        this.isMissingOne = true;
        continue;
      }
      const [server] = servers;
      samples.push({
        entity: {
          kind: "process",
          node: ctx.node,
          key: `cgroup:${folders.path}`,
          // Of several servers in one group none is named: what the group used is not one server's.
          labels: { role: "cgroup", name: folders.path, ...(server !== undefined && servers.size === 1 ? { server } : {}) },
        },
        ts_us,
        epoch: ctx.clock.epoch(),
        values: { ...use, ...presentValues(limits) },
      });
      const mark = this.oomMark(ctx, folders.path, use.oom_kills_total, ts_us);
      if (mark !== null) marks.push(mark);
    }
    return { samples, marks, notice: this.notice };
  }

  private async scan(ctx: CollectorContext): Promise<void> {
    this.scannedUs = ctx.clock.monoUs();
    this.scannedFor = targetsKey(ctx.servers);
    this.isMissingOne = false;
    const { proc, sys } = ctx.roots;
    this.finder ??= new ServerProcessFinder(proc);
    this.locator ??= new CgroupLocator(readCgroupMounts(ctx.roots));
    const found = await this.finder.find(targetPids(ctx.servers));
    const servers = nameServers(found, ctx.servers, ctx.node);
    const byPath = new Map<string, { folders: CgroupFolders; servers: Set<string> }>();
    let hidden = 0;
    for (const process of found) {
      const text = readText(`${proc}/${process.pid}/cgroup`);
      if (text === null) continue;
      const own = await this.locator.locate(text);
      if (own === null) {
        hidden++;
        continue;
      }
      const folders = limitingGroup(own);
      const group = byPath.get(folders.path) ?? { folders, servers: new Set() };
      const name = servers.get(process.pid)?.name;
      if (name !== undefined) group.servers.add(name);
      if (byPath.size < MAX_GROUPS) byPath.set(folders.path, group);
    }
    this.notice = hidden > 0 ? `the groups of ${hidden} server processes are not visible under ${sys}/fs/cgroup` : null;
    if (found.length === 0) {
      // The agent's own group says nothing of a server; the topmost one holds every server, if there is one.
      const top = await this.locator.locateTop();
      if (top !== null) byPath.set(top.path, { folders: top, servers: new Set() });
      this.notice = "no inference server process: the topmost control group is read";
    }
    this.groups = [...byPath.values()].map((g) => ({ ...g, limits: readCgroupLimits(g.folders, sys) }));
  }

  private oomMark(ctx: CollectorContext, path: string, kills: number | undefined, ts_us: number): Mark | null {
    if (kills === undefined) return null;
    const before = this.oomKills.get(path);
    this.oomKills.set(path, kills);
    if (before === undefined || kills <= before) return null;
    return { ts_us, node: ctx.node, kind: "oom_kill", text: `out of memory in group ${path}: ${kills - before} killed` };
  }
}

/** CPU use, throttling, pressure and memory of the control groups that hold the inference servers, v1, v2 and hybrid. */
export const cgroup = defineCollector({
  name: "cgroup",
  kinds: ["process"],
  mode: "poll",
  default_interval_ms: 1000,
  default_timeout_ms: 2000,
  window_ms: null,
  lag_ms: 0,
  detect: async (ctx) => {
    const mounts = readCgroupMounts(ctx.roots);
    const v1 = mounts.some((m) => m.controllers.includes("cpu"));
    const v2 = mounts.some((m) => m.version === 2);
    if (!v1 && !v2)
      return {
        found: false,
        text: `no control group hierarchy under ${ctx.roots.sys}/fs/cgroup`,
        mend: "mount the node's /sys/fs/cgroup and set host.sys_root",
      };
    return { found: true, text: `control groups ${v1 ? (v2 ? "v1 with v2 beside it" : "v1") : "v2"}` };
  },
  start: () => {
    const reader = new CgroupReader();
    return { poll: (ctx) => reader.poll(ctx) };
  },
});
