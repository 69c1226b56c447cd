import path from "node:path";
import type { Command } from "commander";
import { COLLECTORS } from "../../collectors/index.js";
import { findServerProcesses } from "../../collectors/parts/find-server-processes.js";
import { type Examination, examineNode } from "../agent/examine-node.js";
import { loadAgentConfig } from "../agent/load-config.js";
import { CONFIG_OPTION } from "./agent-command.js";
import { type CommandIo, DB_OPTION, databasePath } from "./command-io.js";

interface DoctorOptions {
  readonly config?: string;
  readonly db?: string;
  readonly json?: boolean;
}

export function register(program: Command, io: CommandIo): void {
  program
    .command("doctor")
    .description("what the agent would find here, what is missing and how to switch it on; status 3 when nothing can be diagnosed")
    .option(...CONFIG_OPTION)
    .option("--json", "the findings as JSON, and nothing else, on stdout")
    .option(...DB_OPTION)
    .action((options: DoctorOptions) => doctorCommand(options, io));
}

async function doctorCommand(options: DoctorOptions, io: CommandIo): Promise<void> {
  const config = await loadAgentConfig(
    options.config,
    COLLECTORS.map((collector) => collector.name),
  );
  const examination = await examineNode(config, {
    collectors: COLLECTORS,
    database: path.resolve(databasePath(options.db ?? config.db ?? undefined, io.env)),
    serverProcesses: () => findServerProcesses({ proc: config.host.proc_root }),
  });
  io.out(options.json ? `${JSON.stringify(examination)}\n` : doctorText(examination));
  if (examination.essential.length > 0) io.exit(3);
}

/** The findings for people: one line each, and how to mend what is missing. */
export function doctorText({ node, findings, essential }: Examination): string {
  const width = Math.max(...findings.map((finding) => finding.what.length));
  const lines = findings.flatMap(({ what, state, text, mend }) => [
    `  ${state.padEnd(8)} ${what.padEnd(width)}  ${text}`,
    ...(mend === null ? [] : [`  ${" ".repeat(8)} ${" ".repeat(width)}  -> ${mend}`]),
  ]);
  const verdict =
    essential.length > 0
      ? `Missing: ${essential.join(" and ")}. With neither, a slow request cannot be explained.`
      : "There is enough here to explain slow requests.";
  return `${[`Seen from ${node}:`, ...lines, verdict].join("\n")}\n`;
}
