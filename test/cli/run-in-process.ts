import { runCli } from "../../src/cli/run-cli.js";

export interface CliResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in this process with its own output; nothing reaches the terminal. */
export async function cli(args: readonly string[], env: Record<string, string> = {}, nowUs = 1_788_440_000_000_000): Promise<CliResult> {
  let out = "";
  let err = "";
  const io = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    env,
    errIsTerminal: false,
    outIsTerminal: false,
    columns: 100,
    wallUs: () => nowUs,
  };
  const status = await runCli(args, io, "0.0.0-test");
  return { status, out, err };
}
