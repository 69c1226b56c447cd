// What the agent costs at 1 Hz (and at 10 Hz with a second argument of 100ms): CPU share of one core and RSS, against the lab's node with
// eight GPUs: dcgm-exporter, nvidia-smi, one server, host. Targets: DESIGN section "What it must reach". The lab is a process of its own.
//   npm run build && node --import tsx bench/agent-cost.ts [seconds] [interval]
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { LabAddresses } from "../lab/lab-main.js";
import { OwnProcess } from "../src/cli/demo/child-process.js";

const SECONDS = Number(process.argv[2] ?? 60);
const INTERVAL = process.argv[3] ?? "1s";
const WARM_UP_S = 10;
const TICKS_PER_S = 100;
const FAST = INTERVAL.endsWith("ms");
const REACH_CPU_PERCENT = FAST ? 6 : 1;
const REACH_RSS_MB = 120;

const built = ["../dist/", "../"].map((up) => new URL(up, import.meta.url).pathname).find((at) => fs.existsSync(`${at}src/cli/whyslow.js`));
if (!built) throw new Error("build first: npm run build");

interface ProcessStat {
  readonly ppid: number;
  readonly cpu_s: number;
  readonly rss_mb: number;
}

function statOf(pid: number): ProcessStat | null {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const cells = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const cell = (n: number): number => Number(cells[n - 3]);
    return { ppid: cell(4), cpu_s: (cell(14) + cell(15)) / TICKS_PER_S, rss_mb: (cell(24) * 4096) / 1e6 };
  } catch {
    return null;
  }
}

const childrenCpu = (parent: number): number =>
  fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .reduce((sum, stat) => sum + (stat?.ppid === parent ? stat.cpu_s : 0), 0);

const collectors = ["dcgm-exporter", "server-metrics", "nvidia-smi-query", "host", "cgroup", "server-processes", "network"];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-bench-"));
const lab = new OwnProcess("lab", `${built}lab/lab-main.js`, [JSON.stringify({ gpus: 8, server: { tp: 8 } })], process.env);
let agent: OwnProcess | null = null;
try {
  const at = JSON.parse((await lab.line(/^\{.*\}$/, 60_000))[0]) as LabAddresses;
  const config = path.join(folder, "agent.yaml");
  const settings = Object.fromEntries(collectors.map((name) => [name, { interval: INTERVAL }]));
  const yaml = {
    listen: { http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", otlp_http: "off" },
    collectors: { ...settings, "dcgm-exporter": { interval: INTERVAL, url: at.dcgmUrl } },
    servers: [{ name: "llm", url: at.serverUrl, engine: "vllm" }],
    host: { proc_root: at.procRoot, sys_root: at.sysRoot },
    log: { level: "warn" },
  };
  fs.writeFileSync(config, JSON.stringify(yaml));
  const env = { ...process.env, PATH: `${at.binDir}${path.delimiter}${process.env.PATH}` };
  agent = new OwnProcess("agent", `${built}src/cli/whyslow.js`, ["agent", "--config", config, "--db", path.join(folder, "a.db")], env);
  const [, otlp] = await agent.line(/OTLP\/gRPC\s+(\S+:\d+)/, 60_000);
  await fetch(`${at.controlUrl}/otlp`, { method: "POST", body: JSON.stringify({ target: `grpc://${otlp}` }) });
  await pause(WARM_UP_S * 1000);
  const before = statOf(agent.pid)!;
  const programsBefore = childrenCpu(agent.pid);
  const begin = performance.now();
  let rss = before.rss_mb;
  for (let i = 0; i < SECONDS; i++) {
    await pause(1000);
    rss = Math.max(rss, statOf(agent.pid)?.rss_mb ?? 0);
  }
  const elapsed = (performance.now() - begin) / 1000;
  const share = (100 * (statOf(agent.pid)!.cpu_s - before.cpu_s)) / elapsed;
  const programs = (100 * (childrenCpu(agent.pid) - programsBefore)) / elapsed;
  const cpu = os.cpus();
  console.log(
    `${new Date().toISOString()}  ${cpu[0]?.model ?? "unknown CPU"}, ${cpu.length} cores, load ${os.loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}`,
  );
  console.log(
    `agent every ${INTERVAL} against 8 GPUs (dcgm-exporter, nvidia-smi), one vLLM server, host, traces over gRPC: ${elapsed.toFixed(0)} s`,
  );
  console.log(`CPU   ${share.toFixed(2)} % of a core (to reach: <= ${REACH_CPU_PERCENT} %)`);
  console.log(`RSS   ${rss.toFixed(0)} MB at most (to reach: <= ${REACH_RSS_MB} MB)`);
  console.log(`its programs (the lab's stand-in for nvidia-smi, a Node script) use ${programs.toFixed(2)} % beside it`);
} finally {
  await agent?.stop();
  await lab.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
