import type { CommandModule } from "./command-io.js";

/** Every command and the file that holds it; a file is loaded only when its command, or the help, is asked for. */
export const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  agent: () => import("./agent-command.js"),
  doctor: () => import("./doctor-command.js"),
  correlate: () => import("./correlate-command.js"),
  import: () => import("./import-command.js"),
  run: () => import("./run-command.js"),
  mark: () => import("./mark-command.js"),
  sql: () => import("./sql-command.js"),
  db: () => import("./db-command.js"),
  demo: () => import("./demo-command.js"),
  eval: () => import("./eval-command.js"),
};
