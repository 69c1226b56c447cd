import type { Command } from "commander";
import type { Run } from "../../schemas/runs.js";
import { table } from "../report/text-layout.js";
import { openStore, type Store } from "../store/open-store.js";
import { formatDurationMs } from "../time/duration.js";
import { formatIso } from "../time/iso-time.js";
import { type CommandIo, DB_OPTION, databasePath } from "./command-io.js";
import { shellWord } from "./shell-word.js";

interface RunFlags {
  readonly db?: string;
  readonly json?: boolean;
}

export function register(program: Command, io: CommandIo): void {
  const run = program.command("run").description("mark runs: named intervals of time that can be correlated");
  const sub = (name: string, text: string): Command =>
    run
      .command(name)
      .description(text)
      .option(...DB_OPTION)
      .option("--json", "print as JSON");
  sub("start", "mark the start of a run, now")
    .argument("<id>", "name of the run")
    .action((id: string, flags: RunFlags) => within(flags, io, "write", (store) => tell(store.runs.start(id, io.wallUs()), flags, io)));
  sub("stop", "mark the end of a run, now")
    .argument("<id>", "name of the run")
    .action((id: string, flags: RunFlags) => within(flags, io, "write", (store) => tell(store.runs.stop(id, io.wallUs()), flags, io)));
  sub("list", "all runs, by start").action((flags: RunFlags) => within(flags, io, "read", (store) => listRuns(store, flags, io)));
  sub("show", "one run, its manifest and what is stored of it")
    .argument("<id>", "name of the run")
    .action((id: string, flags: RunFlags) => within(flags, io, "read", (store) => showRun(store, id, flags, io)));
  sub("exec", "run a command and mark the run around it: whyslow run exec ID -- CMD ARGS")
    .argument("<id>", "name of the run")
    .argument("<command...>", "the command and its arguments, after --")
    .option("--import <path...>", "files or folders that the command leaves: import them into the run when it ends")
    .action(async (id: string, command: string[], flags: RunFlags & { readonly import?: string[] }) => {
      const { runExec } = await import("./run-exec.js");
      await runExec({ id, command, file: databasePath(flags.db, io.env), imports: flags.import ?? [], json: flags.json === true }, io);
    });
}

function within(flags: RunFlags, io: CommandIo, mode: "read" | "write", body: (store: Store) => void): void {
  const store = openStore(databasePath(flags.db, io.env), { mode });
  try {
    body(store);
  } finally {
    store.close();
  }
}

const time = (us: number | null): string => (us === null ? "-" : formatIso(us));
const length = (run: Run): string =>
  run.start_us === null ? "-" : run.end_us === null ? "open" : formatDurationMs((run.end_us - run.start_us) / 1000);

const runJson = (run: Run): Record<string, unknown> => ({
  id: run.id,
  start: run.start_us === null ? null : formatIso(run.start_us),
  end: run.end_us === null ? null : formatIso(run.end_us),
  created: formatIso(run.created_us),
  manifest: run.manifest,
});

function tell(run: Run, flags: RunFlags, io: CommandIo): void {
  if (flags.json) io.out(`${JSON.stringify(runJson(run))}\n`);
  else if (run.end_us === null) io.out(`run ${run.id} started at ${time(run.start_us)}\n`);
  else io.out(`run ${run.id} ended at ${time(run.end_us)} after ${length(run)}\nnext: whyslow correlate ${shellWord(run.id)}\n`);
}

function listRuns(store: Store, flags: RunFlags, io: CommandIo): void {
  const runs = store.runs.list();
  if (flags.json) io.out(`${JSON.stringify(runs.map(runJson))}\n`);
  else if (runs.length === 0) io.out("no runs yet: make one with `whyslow import` or `whyslow run start`\n");
  else {
    const rows = runs.map((run) => [run.id, time(run.start_us), length(run), run.manifest.model ?? ""]);
    io.out(`${table([["RUN", "START", "LENGTH", "MODEL"], ...rows], [2]).join("\n")}\n`);
  }
}

function showRun(store: Store, id: string, flags: RunFlags, io: CommandIo): void {
  const run = store.runs.require(id);
  const telemetry = store.read.telemetry({ run: id });
  const requests = store.read.requestViews({ run: id });
  const rejected = store.read.rejected({ run: id });
  const sources = telemetry.tracks.map((t) => ({
    source: t.source.name,
    imported: t.source.imported,
    kind: t.entity.kind,
    node: t.entity.node,
    key: t.entity.key,
    samples: t.ts_us.length,
  }));
  const views = { client: requests.filter((r) => r.view === "client").length, server: requests.filter((r) => r.view === "server").length };
  if (flags.json) {
    io.out(`${JSON.stringify({ ...runJson(run), requests: views, tracks: sources, marks: telemetry.marks.length, rejected })}\n`);
    return;
  }
  io.out(`run ${run.id}: ${time(run.start_us)} to ${run.end_us === null ? "now (open)" : time(run.end_us)}, ${length(run)}\n`);
  for (const [key, value] of Object.entries(run.manifest)) io.out(`  ${key}: ${value}\n`);
  io.out(`requests: ${views.client} seen by clients, ${views.server} by servers; marks: ${telemetry.marks.length}\n`);
  const rows = sources.map((s) => [s.kind, s.node, s.key, `${s.source}${s.imported ? "" : " (live)"}`, String(s.samples)]);
  if (rows.length > 0) io.out(`${table([["KIND", "NODE", "KEY", "SOURCE", "SAMPLES"], ...rows], [4]).join("\n")}\n`);
  for (const r of rejected) io.out(`refused: ${r.count} of ${r.source}${r.node ? ` on ${r.node}` : ""}: ${r.reason}\n`);
}
