import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type AgentConfig, DEFAULT_AGENT_CONFIG } from "../../schemas/agent-config.js";
import { type Collector, type CollectorContext, defineCollector, type Reading } from "../../schemas/collector.js";
import { type AgentDeps, type RunningAgent, startAgent } from "../../src/agent/start-agent.js";
import { createLogger } from "../../src/platform/logger.js";

const FREE = { host: "127.0.0.1", port: 0 };

export const testConfig = (over: Partial<AgentConfig> = {}): AgentConfig => ({
  ...DEFAULT_AGENT_CONFIG,
  node: "n1",
  listen: { http: FREE, otlp_grpc: null, otlp_http: null },
  servers: [],
  store: { flush_interval_ms: 100 },
  ...over,
});

export interface AgentBench {
  readonly agent: RunningAgent;
  readonly said: string[];
  readonly database: string;
  get(path: string, init?: RequestInit): Promise<{ status: number; type: string | null; text: string; headers: Headers }>;
}

const undo: (() => Promise<void> | void)[] = [];
/** Ends all agents of a test and removes their folders. */
export async function endAgents(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
}

export function tempDir(): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-agent-"));
  undo.push(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function runAgent(
  collectors: readonly Collector[],
  over: Partial<AgentDeps> & { config?: AgentConfig } = {},
): Promise<AgentBench> {
  const said: string[] = [];
  const { config = testConfig(), database = path.join(tempDir(), "whyslow.db"), ...rest } = over;
  const agent = await startAgent(config, {
    version: "1.2.3",
    database,
    collectors,
    say: (line) => said.push(line),
    report: async (range) => ({ range }),
    judge: null,
    serverProcesses: async () => [],
    serverPorts: [],
    log: createLogger({ level: "silent" }),
    ...rest,
  });
  undo.push(() => agent.stop());
  return {
    agent,
    said,
    database,
    async get(where, init) {
      const response = await fetch(`${agent.url}${where}`, init);
      return {
        status: response.status,
        type: response.headers.get("content-type"),
        text: await response.text(),
        headers: response.headers,
      };
    },
  };
}

/** Reads a host sample at each poll. */
export const hostCollector = (
  name = "fake-host",
  poll: (ctx: CollectorContext) => Promise<Partial<Reading>> = async () => ({}),
  intervalMs = 100,
): Collector =>
  defineCollector({
    name,
    kinds: ["host"],
    mode: "poll",
    default_interval_ms: intervalMs,
    default_timeout_ms: 1000,
    window_ms: null,
    lag_ms: 0,
    detect: async () => ({ found: true, text: "here" }),
    start: () => ({
      async poll(ctx): Promise<Reading> {
        return {
          samples: [
            {
              entity: { kind: "host", node: ctx.node, key: ctx.node, labels: {} },
              ts_us: ctx.clock.wallUs(),
              epoch: ctx.clock.epoch(),
              values: { load1: 0.5, cpu_user_s_total: 12.5 },
            },
          ],
          ...(await poll(ctx)),
        };
      },
    }),
  });

/** Streams the lines of `nvidia-smi`, one reading a line. */
export const smiCollector = (name = "fake-smi"): Collector =>
  defineCollector({
    name,
    kinds: ["gpu"],
    mode: "stream",
    default_interval_ms: 100,
    default_timeout_ms: 1000,
    window_ms: null,
    lag_ms: 0,
    silent_after_intervals: 3,
    detect: async () => ({ found: true, text: "here" }),
    async stream(ctx, emit) {
      for await (const line of ctx.stream("nvidia-smi", ["-lms", "100"]).lines) {
        const entity = { kind: "gpu" as const, node: ctx.node, key: "GPU-a", labels: { index: "0" } };
        emit({ samples: [{ entity, ts_us: line.received_us, epoch: ctx.clock.epoch(), values: { power_w: Number(line.text) } }] });
      }
    },
  });

export const isSkipped = (tool: string): boolean => process.env.WHYSLOW_REQUIRE_ALL !== "1" && !fs.existsSync(tool);
