import os from "node:os";
import type { AgentConfig } from "../../schemas/agent-config.js";
import type { Collector } from "../../schemas/collector.js";
import { createLatestValues } from "../export/latest-values.js";
import { createSelfMetrics } from "../export/self-metrics.js";
import { createHttpClient } from "../platform/http-get.js";
import { createLogger, type Logger } from "../platform/logger.js";
import { type PeriodicTask, startPeriodic } from "../platform/scheduler.js";
import { openStore } from "../store/open-store.js";
import { createSystemClock } from "../time/system-clock.js";
import type { ContextParts } from "./collector-context.js";
import { lockDatabase } from "./database-lock.js";
import { startHttpApi } from "./http-api.js";
import type { Judge } from "./live/live-loop.js";
import { startLive } from "./live/start-live.js";
import { startOtlpIntake } from "./otlp-intake.js";
import { type ReportRange, reportRoute } from "./report-route.js";
import { agentRoutes } from "./routes.js";
import { createServerDiscovery, type SeenProcess } from "./server-discovery.js";
import { collectorLines, listenLines, serverLines } from "./start-up-lines.js";
import { createSupervisor } from "./supervisor.js";

const LOOK_INTERVAL_MS = 60_000;

export interface AgentDeps {
  readonly version: string;
  /** Absolute path of the database. */
  readonly database: string;
  readonly collectors: readonly Collector[];
  /** Start-up lines and warnings for people. */
  say(line: string): void;
  /** Makes the report of a range, away from this thread; all data is committed when it is called. */
  report(range: ReportRange): Promise<unknown>;
  /** Judges the last minutes, away from this thread; null: nothing is judged while it runs. */
  readonly judge: Judge | null;
  /** Front ends of inference servers among the processes. */
  serverProcesses(): Promise<readonly SeenProcess[]>;
  readonly log?: Logger;
  /** Added to the environment of the programs that collectors start. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ports on which servers are looked for; default: the usual ones. */
  readonly serverPorts?: readonly number[];
  /** How often sources and servers that are not there are looked for. */
  readonly lookIntervalMs?: number;
}

export interface RunningAgent {
  readonly node: string;
  /** Base URL of the HTTP service; null when it is off. */
  readonly url: string | null;
  readonly otlp: { readonly grpc: string | null; readonly http: string | null };
  /** Ends collectors and their programs, commits, closes. Takes some seconds at most. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the daemon. Settles when it listens and every collector whose source is there runs.
 * @throws AppError PORT_IN_USE (HTTP service), DB_OPEN, DB_VERSION, DB_CORRUPT; nothing is left running then.
 */
export async function startAgent(config: AgentConfig, deps: AgentDeps): Promise<RunningAgent> {
  const undo: (() => unknown)[] = [];
  try {
    return await start(config, deps, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

async function start(config: AgentConfig, deps: AgentDeps, undo: (() => unknown)[]): Promise<RunningAgent> {
  const log = deps.log ?? createLogger({ level: config.log.level });
  const node = config.node ?? os.hostname();
  const lock = lockDatabase(deps.database);
  undo.push(() => lock.release());
  let clockSteps = 0;
  const clock = createSystemClock({
    onStep(step) {
      clockSteps++;
      const text = `the wall clock moved by ${(step.delta_us / 1e6).toFixed(3)} s`;
      log.warn({ epoch: step.epoch }, text);
      store.sink.marks([{ ts_us: step.ts_us, node, kind: "clock_step", text }]);
    },
  });
  const store = openStore(deps.database, {
    mode: "write",
    flushIntervalMs: config.store.flush_interval_ms,
    wallUs: () => clock.wallUs(),
  });
  undo.push(() => store.close());
  const { sink } = store;
  sink.marks([startMark(clock.wallUs(), node, lock.abandonedBy?.pid ?? null, config.store.flush_interval_ms)]);

  const http = createHttpClient();
  undo.push(() => http.close());
  const latest = createLatestValues(() => performance.now());
  const discovery = createServerDiscovery({
    get: (url, timeoutMs) => http.get(url, { timeoutMs, maxBytes: 1024 * 1024, accept: "text/plain", wallUs: () => clock.wallUs() }),
    processes: deps.serverProcesses,
    nowMs: () => performance.now(),
    ...(deps.serverPorts === undefined ? {} : { ports: deps.serverPorts }),
  });
  const parts: ContextParts = {
    node,
    clock,
    log,
    http,
    roots: { proc: config.host.proc_root, sys: config.host.sys_root },
    servers: () => config.servers ?? discovery.servers,
    env: deps.env ?? {},
  };
  const live = startLive(store, { judge: deps.judge, log, wallUs: () => clock.wallUs() });
  undo.push(() => live.stop());
  const supervisor = createSupervisor({ collectors: deps.collectors, config, parts, sink: live.sink, latest });
  undo.push(() => supervisor.stop());

  const otlp = await startOtlpIntake({ listen: config.listen, node, sink: live.sink, warn: (text) => deps.say(`warning: ${text}`) });
  undo.push(() => otlp.stop());
  const report = reportRoute({
    nowUs: () => clock.wallUs(),
    report(range) {
      sink.flush();
      return deps.report(range);
    },
  });
  const routes = agentRoutes(
    {
      version: deps.version,
      node,
      latest,
      self: createSelfMetrics(),
      states: supervisor.states,
      health: () => ({
        version: deps.version,
        clockSteps,
        collectors: supervisor.states,
        store: sink.health(),
        otlp: otlp.counts(),
        live: live.health,
      }),
      found: live.families,
    },
    [report, ...live.routes],
  );
  const api =
    config.listen.http === null
      ? null
      : await startHttpApi(config.listen.http, routes, (error) => log.error({ error: String(error) }, "a request failed"));
  if (api) undo.push(() => api.stop());

  if (config.servers === null) await discovery.look();
  await supervisor.look();
  const lines = [
    `whyslow ${deps.version} on ${node}, database ${deps.database}`,
    ...serverLines(parts.servers(), config.servers !== null),
    ...collectorLines(supervisor.states),
    ...listenLines(api?.url ?? null, otlp.addresses),
  ];
  for (const line of lines) deps.say(line);

  const lookIntervalMs = deps.lookIntervalMs ?? LOOK_INTERVAL_MS;
  const again: PeriodicTask = startPeriodic({
    intervalMs: lookIntervalMs,
    alignMs: performance.now() + lookIntervalMs,
    onError: (error) => log.error({ error: String(error) }, "looking for sources failed"),
    async run() {
      const before = discovery.servers.length;
      if (config.servers === null && (await discovery.look()))
        for (const line of serverLines(discovery.servers.slice(before), false)) deps.say(line);
      await supervisor.look();
    },
  });
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    again.stop();
    await Promise.all([supervisor.stop(), otlp.stop(), api?.stop(), live.stop()]);
    http.close();
    sink.marks([{ ts_us: clock.wallUs(), node, kind: "agent_stop", text: "the agent stopped in order" }]);
    try {
      store.close();
    } finally {
      lock.release();
    }
  };
  return {
    node,
    url: api?.url ?? null,
    otlp: otlp.addresses,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

function startMark(tsUs: number, node: string, killedPid: number | null, flushMs: number) {
  const text =
    killedPid === null
      ? "the agent started"
      : `the agent started; the one before it (process ${killedPid}) ended out of order: up to ${flushMs} ms before its last sample may be lost`;
  return { ts_us: tsUs, node, kind: killedPid === null ? "agent_start" : "agent_restart", text };
}
