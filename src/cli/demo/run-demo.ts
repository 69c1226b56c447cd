import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { LabAddresses } from "../../../lab/lab-main.js";
import type { FaultTruth } from "../../../lab/live-node.js";
import { AppError } from "../../../schemas/error-codes.js";
import { type Report, reportSchema } from "../../../schemas/report.js";
import { openStore, type Store } from "../../store/open-store.js";
import { OwnProcess } from "./child-process.js";
import type { LabTruth } from "./compare-truth.js";
import { DEMO_LAB, planFaults } from "./demo-plan.js";
import type { Progress } from "./progress.js";

const READY_MS = 60_000;
const DRAIN_MS = 40_000;
const CORRELATE_MS = 120_000;
/** A little longer than the agent's flush and its slowest sampling. */
const SETTLE_MS = 2500;
const RUN = "demo";
const WHYSLOW = fileURLToPath(new URL("../whyslow.js", import.meta.url));
const LAB = fileURLToPath(new URL("../../../lab/lab-main.js", import.meta.url));

export interface DemoResult {
  readonly report: Report;
  readonly truth: LabTruth;
  readonly start_us: number;
  /** The database, when it was kept. */
  readonly database: string | null;
}

export interface DemoSettings {
  readonly seconds: number;
  readonly keep: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** Waits; rejects when the demo is interrupted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(interrupted());
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(interrupted());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** The promise's value, or null when the time is over first; rejects when the demo is interrupted. Leaves no timer behind. */
async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T | null> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const late = pause(ms, either).then(() => null);
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    done.abort();
  }
}

const interrupted = (): AppError => new AppError("DEMO_FAILED", "the demonstration was interrupted");

async function ask<T>(url: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(DRAIN_MS) });
  if (!response.ok) throw new AppError("DEMO_FAILED", `the simulated node answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** As `whyslow run` does. */
function withRuns(database: string, body: (store: Store) => unknown): void {
  const store = openStore(database, { mode: "write" });
  try {
    body(store);
  } finally {
    store.close();
  }
}

/** Loopback and free ports only; what the agent is told about the simulated node. */
function agentConfig(lab: LabAddresses): unknown {
  return {
    node: "demo-node",
    listen: { http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", otlp_http: "off" },
    collectors: {
      "dcgm-exporter": { url: lab.dcgmUrl, interval: "500ms" },
      "server-metrics": { interval: "500ms" },
      "server-processes": { interval: "500ms" },
      cgroup: { interval: "500ms" },
    },
    servers: [{ name: "llm", url: lab.serverUrl, engine: "vllm" }],
    host: { proc_root: lab.procRoot, sys_root: lab.sysRoot },
    log: { level: "warn" },
  };
}

/** Simulated node, real agent, five faults, post-mortem. Everything that it starts has ended when it settles. */
export async function runDemo(settings: DemoSettings): Promise<DemoResult> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-demo-"));
  const started: OwnProcess[] = [];
  const killAll = (): void => {
    for (const child of started) child.killGroup();
  };
  process.on("exit", killAll);
  try {
    return await withFolder(settings, folder, started);
  } finally {
    for (const child of [...started].reverse()) await child.stop();
    process.off("exit", killAll);
    if (!settings.keep) fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function withFolder(settings: DemoSettings, folder: string, started: OwnProcess[]): Promise<DemoResult> {
  const { seconds, signal, progress } = settings;
  const database = path.join(folder, "demo.db");
  const config = path.join(folder, "agent.yaml");
  const start = (name: string, script: string, args: readonly string[], env = settings.env): OwnProcess => {
    if (signal.aborted) throw interrupted();
    const child = new OwnProcess(name, script, args, env);
    started.push(child);
    return child;
  };
  const command = async (...args: readonly string[]): Promise<string> => {
    const child = start(`command ${args.slice(0, 2).join(" ")}`, WHYSLOW, [...args, "--db", database]);
    const code = await within(child.exited, CORRELATE_MS, signal);
    if (code !== 0) throw child.failure(code === null ? "did not end" : `ended with status ${code}`);
    return child.stdout;
  };

  const lab = start("simulated node", LAB, [JSON.stringify(DEMO_LAB)]);
  const at = JSON.parse((await lab.line(/^\{.*\}$/, READY_MS))[0]) as LabAddresses;
  fs.writeFileSync(config, `${JSON.stringify(agentConfig(at), null, 2)}\n`);
  const env = { ...settings.env, PATH: `${at.binDir}${path.delimiter}${settings.env.PATH ?? ""}` };
  const agent = start("agent", WHYSLOW, ["agent", "--config", config, "--db", database], env);
  const [, otlp] = await agent.line(/OTLP\/gRPC\s+(\S+:\d+)/, READY_MS);
  await ask(`${at.controlUrl}/otlp`, { target: `grpc://${otlp}` });
  await ask(`${at.controlUrl}/begin`, {});
  const start_us = Date.now() * 1000;
  withRuns(database, (store) => store.runs.start(RUN, start_us));
  progress.stage(`whyslow demo: the agent watches a simulated server on two GPUs for ${seconds} s, five faults come one after another`);
  const faults: FaultTruth[] = [];
  for (const fault of planFaults(seconds)) faults.push(await ask<FaultTruth>(`${at.controlUrl}/fault`, fault));
  await watch(seconds, start_us, faults, agent, settings);
  progress.stage("letting the last requests end");
  await within(ask(`${at.controlUrl}/drain`, {}), DRAIN_MS, signal);
  await pause(SETTLE_MS, signal);
  withRuns(database, (store) => store.runs.stop(RUN, Date.now() * 1000));
  await agent.stop();
  progress.stage("correlating");
  const report = reportSchema.parse(JSON.parse(await command("correlate", RUN, "--json")));
  const truth = await ask<LabTruth>(`${at.controlUrl}/truth`);
  return { report, truth, start_us, database: settings.keep ? database : null };
}

async function watch(
  seconds: number,
  start_us: number,
  faults: readonly FaultTruth[],
  agent: OwnProcess,
  { signal, progress }: DemoSettings,
): Promise<void> {
  let ended = false;
  void agent.exited.then(() => {
    ended = true;
  });
  for (;;) {
    const now = Date.now() * 1000;
    const done = (now - start_us) / 1e6;
    if (done >= seconds) break;
    if (ended) throw agent.failure("ended while it should have been watching");
    const fault = faults.find((f) => f.start_us <= now && now < f.end_us);
    progress.bar(done, seconds, fault ? `fault: ${fault.class} (${fault.cause})` : "quiet");
    await pause(Math.min(500, (seconds - done) * 1000), signal);
  }
  progress.clear();
}
