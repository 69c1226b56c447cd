import { AppError } from "../../schemas/error-codes.js";
import { importFiles, recogniseFiles } from "../intake/import-files.js";
import { runForeground } from "../platform/foreground-command.js";
import { openStore, type Store } from "../store/open-store.js";
import { formatIso } from "../time/iso-time.js";
import type { CommandIo } from "./command-io.js";
import { monotonicZeroUs } from "./import-clock.js";
import { shellWord } from "./shell-word.js";

export interface RunExecOptions {
  readonly id: string;
  readonly command: readonly string[];
  readonly file: string;
  /** What the command leaves, to be imported when it has ended. */
  readonly imports: readonly string[];
  /** Stdout is ours: the command's goes to stderr. */
  readonly json: boolean;
}

/** Marks a run around a command, then imports what it left. The exit status is 1 when the command failed. */
export async function runExec(options: RunExecOptions, io: CommandIo): Promise<void> {
  const { id, file, command } = options;
  withStore(file, (store) => store.runs.start(id, io.wallUs()));
  const result = await runForeground(command, { stdoutToStderr: options.json });
  const run = withStore(file, (store) => store.runs.stop(id, io.wallUs()));
  const failure =
    result.startError !== null
      ? `cannot be started: ${result.startError}`
      : result.signal !== null
        ? `was ended by ${result.signal}`
        : result.exitCode !== 0
          ? `ended with status ${result.exitCode}`
          : null;
  if (failure) io.err(`whyslow: ${command[0]} ${failure}\n`);
  const imported = result.startError === null && options.imports.length > 0 ? await importLeft(options, io) : 0;
  if (failure) io.exit(1);
  if (options.json) {
    const { exitCode, signal } = result;
    io.out(
      `${JSON.stringify({ id, start: formatIso(run.start_us!), end: formatIso(run.end_us!), exit_code: exitCode, signal, imported })}\n`,
    );
  } else io.out(`run ${id} ended at ${formatIso(run.end_us!)}\nnext: whyslow correlate ${shellWord(id)}\n`);
}

/** Number of files read. The run keeps its marks: a file that reaches beyond them does not widen it. */
async function importLeft(options: RunExecOptions, io: CommandIo): Promise<number> {
  const files = await recogniseFiles(options.imports, { format: null });
  const store = openStore(options.file, { mode: "write", keepRanges: true });
  try {
    // What has just run here counted its times from this machine's start.
    const now_us = io.wallUs();
    const clock = { anchor: "boot", boot_us: monotonicZeroUs(now_us), now_us } as const;
    const { files: read } = await importFiles(files, { run: options.id, sink: store.sink, clock });
    for (const { path, warnings } of read) for (const text of warnings) io.err(`whyslow: ${path}: ${text}\n`);
    if (read.every((f) => f.requests + f.samples + f.series + f.marks === 0)) {
      throw new AppError("FILE_FORMAT", `what the command left in ${options.imports.join(", ")} holds nothing that can be used`);
    }
    return read.length;
  } finally {
    store.close();
  }
}

function withStore<T>(file: string, body: (store: Store) => T): T {
  const store = openStore(file, { mode: "write" });
  try {
    return body(store);
  } finally {
    store.close();
  }
}
