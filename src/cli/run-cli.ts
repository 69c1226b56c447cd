import { Command, CommanderError } from "commander";
import { AppError } from "../../schemas/error-codes.js";
import type { CommandIo } from "./command-io.js";
import { COMMANDS } from "./commands.js";

/** Runs one command line (without `node` and the script) and gives the exit status. Prints one clear line for an error, never a stack trace. */
export async function runCli(argv: readonly string[], io: Omit<CommandIo, "exit">, version: string): Promise<number> {
  let status = 0;
  const program = new Command("whyslow")
    .description("Why was the LLM request slow, how sure is that, and what to change")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(add --help for the usage)")
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  const full: CommandIo = { ...io, exit: (code) => (status = code) };
  try {
    const asked = argv.find((a) => !a.startsWith("-"));
    const names = asked && COMMANDS[asked] ? [asked] : Object.keys(COMMANDS);
    for (const name of names) (await COMMANDS[name]!()).register(program, full);
    for (const command of program.commands) command.copyInheritedSettings(program);
    await program.parseAsync([...argv], { from: "user" });
    return status;
  } catch (error) {
    return reportError(error, io);
  }
}

/** Exit status of an error after telling it: commander has told its own already. */
export function reportError(error: unknown, io: Pick<CommandIo, "err" | "env">): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof AppError) {
    io.err(`whyslow: ${error.message}${error.mend ? `; ${error.mend}` : ""} [${error.code}]\n`);
    return error.exitStatus;
  }
  const text = error instanceof Error ? error.message : String(error);
  io.err(
    `whyslow: unexpected error: ${text.split("\n")[0]} [INTERNAL]${io.env.WHYSLOW_DEBUG ? "" : "; set WHYSLOW_DEBUG=1 for the details"}\n`,
  );
  if (io.env.WHYSLOW_DEBUG && error instanceof Error) io.err(`${error.stack}\n`);
  return 1;
}
