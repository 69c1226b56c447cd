import { spawn } from "node:child_process";

export interface ForegroundResult {
  /** Null when it was ended by a signal or could not start. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started; null when it was. */
  readonly startError: string | null;
}

const FORWARDED: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP"];

/**
 * Runs the user's own command on this terminal, as `time` does: without a shell, in this process group, until it ends. Ctrl-C
 * reaches it from the terminal and leaves us alive to note its end. Never rejects.
 */
export async function runForeground(
  command: readonly string[],
  options: { readonly stdoutToStderr?: boolean } = {},
): Promise<ForegroundResult> {
  const [program = "", ...args] = command;
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  const child = spawn(program, args, { stdio: ["inherit", options.stdoutToStderr ? 2 : "inherit", "inherit"] });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    return await new Promise<ForegroundResult>((resolve) => {
      child.once("error", (error: NodeJS.ErrnoException) => resolve({ exitCode: null, signal: null, startError: startErrorText(error) }));
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal, startError: null }));
    });
  } finally {
    process.off("SIGINT", ignore);
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}

function startErrorText(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "no such program";
  if (error.code === "EACCES") return "it may not be run";
  return error.message;
}
