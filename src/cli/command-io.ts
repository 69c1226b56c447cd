import os from "node:os";
import path from "node:path";
import type { Command } from "commander";

/** What a command may touch of the outer world; tests give their own. */
export interface CommandIo {
  /** Results, and with `--json` nothing else. */
  out(text: string): void;
  /** Progress and warnings. */
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Progress bars and colours only where a person looks. */
  readonly errIsTerminal: boolean;
  readonly outIsTerminal: boolean;
  readonly columns: number;
  readonly wallUs: () => number;
  /** Sets the exit status of a command that ended in order (3: a gate said no). */
  exit(status: 0 | 1 | 2 | 3): void;
}

/** One file a command: it adds itself to the program. */
export interface CommandModule {
  register(program: Command, io: CommandIo): void;
}

/** `--db`, else `$WHYSLOW_DB`, else the XDG state folder. */
export function databasePath(option: string | undefined, env: CommandIo["env"]): string {
  const given = option ?? env.WHYSLOW_DB;
  if (given) return path.resolve(given);
  const state = env.XDG_STATE_HOME && path.isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : path.join(os.homedir(), ".local", "state");
  return path.join(state, "whyslow", "whyslow.db");
}

export const DB_OPTION = ["--db <file>", "database file (default: $WHYSLOW_DB, else whyslow/whyslow.db in the XDG state folder)"] as const;
