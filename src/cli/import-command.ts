import type { Command } from "commander";
import { AppError } from "../../schemas/error-codes.js";
import { type ImportedFile, type ImportOutcome, importFiles, recogniseFiles } from "../intake/import-files.js";
import { IMPORTERS } from "../intake/importers/index.js";
import { openStore } from "../store/open-store.js";
import { checkRunName } from "../store/run-name.js";
import { type CommandIo, type CommandModule, DB_OPTION, databasePath } from "./command-io.js";
import { ANCHOR_OPTION, importClock, ZONE_OPTION } from "./import-clock.js";
import { shellWord } from "./shell-word.js";

interface ImportFlags {
  readonly format?: string;
  readonly node?: string;
  readonly anchor?: string;
  readonly zone?: string;
  readonly columns?: string;
  readonly db?: string;
  readonly json?: boolean;
}

export const register: CommandModule["register"] = (program: Command, io: CommandIo): void => {
  program
    .command("import")
    .description("take requests and telemetry from files into a run; the content decides the format")
    .argument("<run>", "name of the run; made if there is none")
    .argument("<files...>", "files or folders, gzip or plain")
    .option("--format <name>", "the files' format, where it cannot be recognised")
    .option("--node <name>", "the node's name, where the files do not say it")
    .option(...ANCHOR_OPTION)
    .option(...ZONE_OPTION)
    .option("--columns <names>", "columns of a table without a header, in order, separated by commas")
    .option(...DB_OPTION)
    .option("--json", "print the summary as JSON")
    .addHelpText("after", () => `\nFormats:\n${IMPORTERS.map((i) => `  ${i.name.padEnd(22)} ${i.looks_for}`).join("\n")}`)
    .action((run: string, files: string[], flags: ImportFlags) => importCommand(run, files, flags, io));
};

async function importCommand(run: string, paths: readonly string[], flags: ImportFlags, io: CommandIo): Promise<void> {
  checkRunName(run);
  const clock = importClock(flags, io.wallUs());
  const files = await recogniseFiles(paths, { format: flags.format ?? null });
  const store = openStore(databasePath(flags.db, io.env), { mode: "write" });
  try {
    const outcome = await importFiles(files, {
      run,
      sink: store.sink,
      node: flags.node ?? "",
      clock,
      columns: flags.columns?.split(",").map((name) => name.trim()) ?? null,
      onFile: (path, index, total) => {
        if (io.errIsTerminal) io.err(`\r\u001b[Kreading ${index + 1} of ${total}: ${path}`);
      },
    });
    if (io.errIsTerminal) io.err("\r\u001b[K");
    if (outcome.range === null) throw nothingUsable(outcome);
    store.runs.extend(run, outcome.range.start_us, outcome.range.end_us);
    if (flags.json) io.out(`${JSON.stringify(summary(run, outcome))}\n`);
    else printForPeople(run, outcome, io);
  } finally {
    store.close();
  }
}

function nothingUsable(outcome: ImportOutcome): AppError {
  const file = outcome.files[0];
  const why = file ? [...file.warnings, ...refusals(file)].join("; ") : "";
  return new AppError("FILE_FORMAT", `${file?.path ?? "the input"} holds no request and no telemetry that can be used${why && `: ${why}`}`);
}

function summary(run: string, outcome: ImportOutcome) {
  const iso = (us: number) => (Number.isFinite(us) ? new Date(us / 1000).toISOString() : null);
  return {
    schema: "whyslow.import/v1",
    run,
    start: iso(outcome.range?.start_us ?? Number.NaN),
    end: iso(outcome.range?.end_us ?? Number.NaN),
    files: outcome.files.map(({ start_us, end_us, ...file }) => ({ ...file, start: iso(start_us), end: iso(end_us) })),
    skipped: outcome.skipped,
  };
}

function printForPeople(run: string, outcome: ImportOutcome, io: CommandIo): void {
  for (const file of outcome.files) {
    const rows = [
      ...requestCounts(file),
      count(file.samples, "sample"),
      count(file.series, "series reading"),
      count(file.marks, "mark"),
    ].filter((t) => t !== "");
    io.out(`${file.path}: ${file.format}, ${rows.length > 0 ? rows.join(", ") : "nothing that can be used"}\n`);
    for (const text of refusals(file)) io.out(`  ${text}\n`);
    for (const text of file.warnings) io.err(`whyslow: ${file.path}: ${text}\n`);
  }
  for (const { path, reason } of outcome.skipped) io.err(`whyslow: skipped ${path}: ${reason}\n`);
  io.out(`next: whyslow correlate ${shellWord(run)}\n`);
}

function refusals(file: ImportedFile): string[] {
  return Object.entries(file.rejected)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, n]) => `refused ${n}: ${reason}`);
}

/** New ones, and those that an earlier import, or an earlier line, had brought already. */
function requestCounts({ requests, known_requests }: ImportedFile): string[] {
  if (known_requests === 0) return [count(requests, "request")];
  return [count(requests - known_requests, "new request"), `${known_requests} already known`].filter((text) => text !== "");
}

const count = (n: number, word: string): string => (n === 0 ? "" : `${n} ${word}${n === 1 ? "" : "s"}`);
