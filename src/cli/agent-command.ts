import path from "node:path";
import type { Command } from "commander";
import { COLLECTORS } from "../../collectors/index.js";
import { findServerProcesses } from "../../collectors/parts/find-server-processes.js";
import { loadAgentConfig } from "../agent/load-config.js";
import { startAgent } from "../agent/start-agent.js";
import { catchStopSignals } from "../platform/lifecycle.js";
import { type CommandIo, DB_OPTION, databasePath } from "./command-io.js";
import { liveInWorker } from "./live-in-worker.js";
import { reportInWorker } from "./report-in-worker.js";
import { version } from "./version.js";

interface AgentOptions {
  readonly config?: string;
  readonly db?: string;
}

export const CONFIG_OPTION = ["--config <file>", "configuration (YAML); without one the agent finds what is there"] as const;

export function register(program: Command, io: CommandIo): void {
  program
    .command("agent")
    .description("the daemon: samples GPUs, host and inference servers, receives traces, serves /metrics")
    .option(...CONFIG_OPTION)
    .option(...DB_OPTION)
    .action((options: AgentOptions) => agentCommand(options, io));
}

async function agentCommand(options: AgentOptions, io: CommandIo): Promise<void> {
  const config = await loadAgentConfig(
    options.config,
    COLLECTORS.map((collector) => collector.name),
  );
  const database = path.resolve(databasePath(options.db ?? config.db ?? undefined, io.env));
  const signals = catchStopSignals();
  try {
    const agent = await startAgent(config, {
      version: version(),
      database,
      collectors: COLLECTORS,
      say: (line) => io.err(`${line}\n`),
      report: (range) => reportInWorker({ database, range }),
      judge: liveInWorker({ database }),
      serverProcesses: () => findServerProcesses({ proc: config.host.proc_root }),
    });
    const signal = await signals.first;
    io.err(`whyslow: ${signal}, stopping\n`);
    await agent.stop();
  } finally {
    signals.release();
  }
}
