import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DEFAULT_SERVER, DEFAULT_WORKLOAD, type Fault, type ServerOptions, type Workload } from "../src/sim/scenario.js";
import type { RequestTruth } from "../src/sim/truth.js";
import { serveDcgmExporter, serveVllm } from "./exporter-endpoints.js";
import { type FaultRequest, type FaultTruth, LiveNode } from "./live-node.js";
import { OtlpSender } from "./otlp-sender.js";
import { NodeTree } from "./proc/node-tree.js";
import { llmRequestSpan } from "./request-records.js";
import { type SmiEndpoint, type SmiMode, serveSmi } from "./smi/endpoint.js";
import { writeStub } from "./smi/stub.js";

export interface LabOptions {
  readonly seed?: number;
  /** GPUs of the node; the server uses the first `server.tp`. */
  readonly gpus?: number;
  readonly server?: Partial<ServerOptions>;
  readonly workload?: Partial<Workload>;
  readonly faults?: readonly Fault[];
  /** No requests until `live.begin()`. */
  readonly hold?: boolean;
  /** dcgm-exporter's collect interval. */
  readonly dcgm_collect_ms?: number;
  /** `grpc://HOST:PORT` or `http://HOST:PORT`; may be set later. */
  readonly otlp?: string;
}

/** A simulated node that is served like a real one. */
export interface LabNode {
  readonly dcgmUrl: string;
  readonly serverUrl: string;
  /** Holds `nvidia-smi`: to be put before PATH. */
  readonly binDir: string;
  readonly procRoot: string;
  readonly sysRoot: string;
  readonly live: LiveNode;
  readonly smi: SmiEndpoint;
  readonly otlp: OtlpSender;
  setOtlpTarget(target: string | null): void;
  setFault(fault: FaultRequest): FaultTruth;
  setSmiMode(mode: SmiMode): void;
  /** Lets what was begun be answered and sends the last spans; at most `timeout_ms`. */
  drain(timeout_ms?: number): Promise<void>;
  truth(): { readonly faults: readonly FaultTruth[]; readonly requests: readonly RequestTruth[] };
  stop(): Promise<void>;
}

/** Starts the node on free loopback ports; everything it writes is in one temporary folder that `stop` removes. */
export async function startLabNode(options: LabOptions = {}): Promise<LabNode> {
  const server = { ...DEFAULT_SERVER, ...options.server };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-lab-"));
  const binDir = path.join(folder, "bin");
  fs.mkdirSync(binDir);
  const live = new LiveNode(
    {
      seed: options.seed ?? 1,
      server,
      workload: { ...DEFAULT_WORKLOAD, ...options.workload },
      faults: options.faults ?? [],
      ...(options.hold ? { start_us: Infinity } : {}),
    },
    Math.max(options.gpus ?? server.tp, server.tp),
    (options.dcgm_collect_ms ?? 1000) * 1000,
  );
  const otlp = new OtlpSender();
  otlp.setTarget(options.otlp ?? null);
  live.whenFinished((requests) => otlp.add(requests.map((r) => llmRequestSpan(r, live.epoch_us))));
  const dcgm = await serveDcgmExporter(live);
  const vllm = await serveVllm(live);
  const socket = path.join(folder, "smi.sock");
  const smi = await serveSmi(live, socket);
  writeStub(binDir, socket);
  const tree = new NodeTree(live, folder, vllm.port);
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    live.stop();
    tree.close();
    await Promise.all([otlp.stop(), dcgm.close(), vllm.close(), smi.close()]);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  return {
    dcgmUrl: dcgm.url,
    serverUrl: vllm.url,
    binDir,
    procRoot: tree.procRoot,
    sysRoot: tree.sysRoot,
    live,
    smi,
    otlp,
    setOtlpTarget: (target) => otlp.setTarget(target),
    setFault: (fault) => live.setFault(fault),
    setSmiMode: (mode) => smi.setMode(mode),
    drain: async (timeout_ms = 20_000) => {
      live.stopArrivals();
      const until = Date.now() + timeout_ms;
      while (live.pending() > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 100));
      live.advance();
      await otlp.flush();
    },
    truth: () => live.truth(),
    stop: () => (stopped ??= stop()),
  };
}
