import path from "node:path";
import { HOST_CPUS, type HostReading, readHost } from "../../src/sim/host-reading.js";
import { KV_BLOCK_TOKENS } from "../../src/sim/scenario.js";
import type { LiveNode } from "../live-node.js";
import { HeldTree } from "./held-tree.js";
import { writeHost } from "./host-files.js";
import { writeProcess } from "./process-files.js";
import { type LabProcess, serverProcesses } from "./processes.js";

const REFRESH_MS = 150;
const CGROUP = "/kubepods.slice/kubepods-podllm0.slice/cri-containerd-inference.scope";
const PERIOD_US = 100_000;
const MEMORY_LIMIT = 200 * 1024 ** 3;

/** A /proc and a /sys tree in a folder that follow the simulated node; what `host.proc_root` and `host.sys_root` point to. */
export class NodeTree {
  readonly procRoot: string;
  readonly sysRoot: string;
  private readonly proc: HeldTree;
  private readonly sys: HeldTree;
  private readonly processes: readonly LabProcess[];
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly live: LiveNode,
    folder: string,
    serverPort: number,
  ) {
    this.procRoot = path.join(folder, "proc");
    this.sysRoot = path.join(folder, "sys");
    this.proc = new HeldTree(this.procRoot);
    this.sys = new HeldTree(this.sysRoot);
    const { server } = live.scenario;
    this.processes = serverProcesses(server.model, serverPort, server.tp);
    this.sys.write("devices/system/cpu/online", `0-${HOST_CPUS - 1}\n`);
    this.sys.write("class/net/eth0/operstate", "up\n");
    this.sys.write("class/net/eth0/speed", "100000\n");
    this.sys.write("class/net/eth0/device/uevent", "DRIVER=mlx5_core\n");
    this.refresh();
    this.timer = setInterval(() => this.refresh(), REFRESH_MS);
  }

  refresh(): void {
    const now = this.live.advance();
    const host = readHost(this.live.node, now);
    writeHost(this.proc, host, now / 1e6, 4 + this.live.node.scheduler.running.length);
    this.proc.write(
      "1/stat",
      "1 (systemd) S 0 1 1 0 -1 4194560 1 0 0 0 100 50 0 0 20 0 1 0 1 170000000 3000 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
    );
    this.proc.write("1/cmdline", "/sbin/init\0");
    this.proc.write("1/cgroup", "0::/init.scope\n");
    for (const process of this.processes) writeProcess(this.proc, process, host, CGROUP);
    this.writeCgroup(host);
  }

  private writeCgroup(host: HostReading): void {
    const at = `fs/cgroup${CGROUP}`;
    const usage = Math.round(host.container_cpu_s * 1e6);
    const files: Record<string, string> = {
      "cpu.stat": `usage_usec ${usage}\nuser_usec ${Math.round(usage * 0.9)}\nsystem_usec ${usage - Math.round(usage * 0.9)}\nnr_periods ${host.cfs_periods}\nnr_throttled ${host.cfs_throttled_periods}\nthrottled_usec ${Math.round(host.cfs_throttled_s * 1e6)}\nnr_bursts 0\nburst_usec 0\n`,
      "cpu.max": `${Math.round(host.quota_cores * PERIOD_US)} ${PERIOD_US}\n`,
      "cpu.weight": "100\n",
      "cpuset.cpus.effective": `0-${HOST_CPUS - 1}\n`,
      "cpu.pressure": `some avg10=0.00 avg60=0.00 avg300=0.00 total=${Math.round(host.container_psi_s * 1e6)}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n`,
      "memory.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
      "io.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
      "memory.current": `${38 * 1024 ** 3 + this.live.node.scheduler.kv.used * KV_BLOCK_TOKENS}\n`,
      "memory.max": `${MEMORY_LIMIT}\n`,
      "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
      "pids.current": `${this.processes.reduce((n, p) => n + p.sleepers + 1, 0)}\n`,
    };
    for (const [name, text] of Object.entries(files)) this.sys.write(`${at}/${name}`, text);
  }

  close(): void {
    clearInterval(this.timer);
    this.proc.close();
    this.sys.close();
  }
}
