import os from "node:os";
import type { Command } from "commander";
import { AppError } from "../../schemas/error-codes.js";
import { openStore } from "../store/open-store.js";
import { formatIso } from "../time/iso-time.js";
import { type CommandIo, DB_OPTION, databasePath } from "./command-io.js";

interface MarkFlags {
  readonly run?: string;
  readonly db?: string;
  readonly json?: boolean;
}

export function register(program: Command, io: CommandIo): void {
  program
    .command("mark")
    .description("annotate the time axis, now")
    .argument("<text>", "what happened, as `replica 2 killed`")
    .option("--run <id>", "only for this run")
    .option(...DB_OPTION)
    .option("--json", "print as JSON")
    .action((text: string, flags: MarkFlags) => mark(text, flags, io));
}

function mark(text: string, flags: MarkFlags, io: CommandIo): void {
  if (text.trim() === "")
    throw new AppError("USAGE", "a mark needs a text", { mend: 'say what happened, as `whyslow mark "replica 2 killed"`' });
  const entry = { ts_us: io.wallUs(), node: os.hostname(), kind: "user", text: text.trim() };
  const store = openStore(databasePath(flags.db, io.env), { mode: "write" });
  try {
    if (flags.run !== undefined) store.runs.require(flags.run);
    store.sink.marks([entry], flags.run ?? null);
    store.sink.flush();
  } finally {
    store.close();
  }
  if (flags.json)
    io.out(`${JSON.stringify({ time: formatIso(entry.ts_us), node: entry.node, text: entry.text, run: flags.run ?? null })}\n`);
  else io.out(`marked ${formatIso(entry.ts_us)}: ${entry.text}\n`);
}
