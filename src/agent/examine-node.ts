import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { AgentConfig } from "../../schemas/agent-config.js";
import type { Collector, ServerTarget } from "../../schemas/collector.js";
import { createHttpClient } from "../platform/http-get.js";
import { createLogger } from "../platform/logger.js";
import { createSystemClock } from "../time/system-clock.js";
import type { ContextParts } from "./collector-context.js";
import { createServerDiscovery, type SeenProcess } from "./server-discovery.js";
import { detect, settingsOf } from "./supervisor.js";

/** What `doctor` says about one thing. */
export interface Finding {
  readonly what: string;
  readonly state: "found" | "missing" | "off" | "unknown";
  readonly text: string;
  /** How to switch it on. */
  readonly mend: string | null;
}

export interface Examination {
  readonly node: string;
  readonly findings: readonly Finding[];
  /** What a diagnosis cannot do without; empty when there is enough. */
  readonly essential: readonly string[];
}

export interface ExamineDeps {
  readonly collectors: readonly Collector[];
  readonly database: string;
  serverProcesses(): Promise<readonly SeenProcess[]>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly serverPorts?: readonly number[];
}

/** Looks at the node as the agent would, with the same configuration, and starts nothing that stays. */
export async function examineNode(config: AgentConfig, deps: ExamineDeps): Promise<Examination> {
  const clock = createSystemClock();
  const http = createHttpClient();
  const node = config.node ?? os.hostname();
  try {
    const discovery = createServerDiscovery({
      get: (url, timeoutMs) => http.get(url, { timeoutMs, maxBytes: 1024 * 1024, accept: "text/plain", wallUs: () => clock.wallUs() }),
      processes: deps.serverProcesses,
      nowMs: () => performance.now(),
      ...(deps.serverPorts === undefined ? {} : { ports: deps.serverPorts }),
    });
    if (config.servers === null) await discovery.look();
    const servers = config.servers ?? discovery.servers;
    const parts: ContextParts = {
      node,
      clock,
      log: createLogger({ level: "silent" }),
      http,
      roots: { proc: config.host.proc_root, sys: config.host.sys_root },
      servers: () => servers,
      env: deps.env ?? {},
    };
    const sources = await Promise.all(deps.collectors.map((collector) => examineCollector(collector, config, parts)));
    const hasGpu = deps.collectors.some((collector, i) => collector.kinds.includes("gpu") && sources[i]?.state === "found");
    const essential = hasGpu || servers.length > 0 ? [] : ["a GPU source (dcgm-exporter or nvidia-smi)", "an inference server's metrics"];
    return { node, findings: [...sources, ...serverFindings(servers), clockFinding(), databaseFinding(deps.database)], essential };
  } finally {
    http.close();
  }
}

async function examineCollector(collector: Collector, config: AgentConfig, parts: ContextParts): Promise<Finding> {
  const settings = settingsOf(collector, config);
  if (settings.enabled === false) return { what: collector.name, state: "off", text: "switched off in the configuration", mend: null };
  const { found, text, mend } = await detect(collector, parts, settings);
  return { what: collector.name, state: found ? "found" : "missing", text, mend: mend ?? null };
}

const serverFindings = (servers: readonly ServerTarget[]): Finding[] =>
  servers.map((one) => ({ what: `server ${one.name}`, state: "found", text: `${one.url}${one.metrics_path}`, mend: null }));

/** systemd-timesyncd leaves a file when it has set the clock; for the other daemons one would have to run a program. */
function clockFinding(): Finding {
  if (fs.existsSync("/run/systemd/timesync/synchronized"))
    return { what: "clock", state: "found", text: "synchronised by systemd-timesyncd", mend: null };
  return {
    what: "clock",
    state: "unknown",
    text: "whether the clock is synchronised cannot be seen from here",
    mend: "check `chronyc tracking` or `timedatectl`",
  };
}

function databaseFinding(database: string): Finding {
  let at = database;
  while (!fs.existsSync(at) && path.dirname(at) !== at) at = path.dirname(at);
  try {
    fs.accessSync(at, fs.constants.W_OK);
    return { what: "database", state: "found", text: `${database} can be written`, mend: null };
  } catch {
    return { what: "database", state: "missing", text: `${at} cannot be written`, mend: "give another file with --db" };
  }
}
