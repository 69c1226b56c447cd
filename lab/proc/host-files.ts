import { HOST_CPUS, type HostReading } from "../../src/sim/host-reading.js";
import type { HeldTree } from "./held-tree.js";

const ticks = (s: number): number => Math.floor(s * 100);
const MEM_KIB = 503 * 1024 * 1024;
const BOOT_S = 86_400;

const pressure = (some_s: number, full_s: number | null): string => {
  const line = (word: string, s: number): string => `${word} avg10=0.00 avg60=0.00 avg300=0.00 total=${Math.round(s * 1e6)}\n`;
  return line("some", some_s) + (full_s === null ? "" : line("full", full_s));
};

const table = (name: string, cells: Readonly<Record<string, number>>): string =>
  `${name}: ${Object.keys(cells).join(" ")}\n${name}: ${Object.values(cells).join(" ")}\n`;

/** Node-wide files of /proc. `up_s`: seconds since the lab began. */
export function writeHost(tree: HeldTree, host: HostReading, up_s: number, established: number): void {
  const perCpu = (s: number): number => ticks(s / HOST_CPUS);
  const cpu = (name: string, of: (s: number) => number): string =>
    `${name} ${of(1000 + host.user_s)} 0 ${of(200 + host.system_s)} ${of(BOOT_S * HOST_CPUS + host.idle_s)} ${of(10)} 0 ${of(1)} 0 0 0\n`;
  const cpus = Array.from({ length: HOST_CPUS }, (_, i) => cpu(`cpu${i}`, perCpu)).join("");
  const boot = Math.floor(Date.now() / 1000 - BOOT_S - up_s);
  const switches = 1e6 + Math.floor(4000 * up_s);
  tree.write(
    "stat",
    `${cpu("cpu ", ticks)}${cpus}intr 0\nctxt ${switches}\nbtime ${boot}\nprocesses 5000\nprocs_running 3\nprocs_blocked 0\nsoftirq 0\n`,
  );
  tree.write("loadavg", `${(1 + host.container_cpu_s / Math.max(1, up_s)).toFixed(2)} 1.50 1.20 3/900 4300\n`);
  tree.write("uptime", `${(BOOT_S + up_s).toFixed(2)} ${(BOOT_S * 30).toFixed(2)}\n`);
  tree.write(
    "meminfo",
    `MemTotal:       ${MEM_KIB} kB\nMemFree:        ${MEM_KIB - 60_000_000} kB\nMemAvailable:   ${MEM_KIB - 40_000_000} kB\nBuffers:          120000 kB\nCached:         18000000 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n`,
  );
  tree.write(
    "vmstat",
    `pgpgin 9000000\npgpgout 4000000\npswpin 0\npswpout 0\npgfault ${1e7 + Math.floor(up_s * 300)}\npgmajfault 1200\noom_kill 0\n`,
  );
  tree.write("pressure/cpu", pressure(host.psi_cpu_s, 0));
  tree.write("pressure/memory", pressure(0, 0));
  tree.write("pressure/io", pressure(0.0005 * up_s, 0));
  tree.write(
    "diskstats",
    ` 259       0 nvme0n1 50000 0 9000000 20000 40000 0 ${8_000_000 + Math.floor(up_s * 40)} 30000 0 ${Math.floor(40_000 + up_s * 2)} 50000 0 0 0 0\n`,
  );
  writeNet(tree, host, up_s, established);
  tree.write("self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  tree.write("self/cgroup", "0::/system.slice/whyslow.service\n");
}

function writeNet(tree: HeldTree, host: HostReading, up_s: number, established: number): void {
  const packets = (bytes: number): number => Math.floor(bytes / 700);
  const nic = (name: string, rx: number, tx: number): string =>
    `${name.padStart(6)}: ${Math.floor(rx)} ${packets(rx)}    0    0    0     0          0         0 ${Math.floor(tx)} ${packets(tx)}    0    0    0     0       0          0\n`;
  const dev = [
    "Inter-|   Receive                                                |  Transmit\n",
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n",
    nic("lo", 1e8, 1e8),
    nic("eth0", host.net_rx_bytes, host.net_tx_bytes),
  ].join("");
  const segments = packets(host.net_tx_bytes);
  const snmp =
    table("Ip", { Forwarding: 1, DefaultTTL: 64, InReceives: segments }) +
    table("Tcp", {
      RtoAlgorithm: 1,
      RtoMin: 200,
      RtoMax: 120_000,
      MaxConn: -1,
      ActiveOpens: 100,
      PassiveOpens: 5000,
      AttemptFails: 0,
      EstabResets: 2,
      CurrEstab: established,
      InSegs: segments,
      OutSegs: segments,
      RetransSegs: 30 + Math.floor(up_s / 30),
      InErrs: 0,
      OutRsts: 12,
      InCsumErrors: 0,
    });
  const netstat =
    table("TcpExt", { SyncookiesSent: 0, ListenOverflows: 0, ListenDrops: 0, TCPTimeouts: 4 }) +
    table("IpExt", { InOctets: 1, OutOctets: 1 });
  for (const place of ["net", "1/net", "self/net"]) {
    tree.write(`${place}/dev`, dev);
    tree.write(`${place}/snmp`, snmp);
    tree.write(`${place}/netstat`, netstat);
  }
}
