import fs from "node:fs";
import type { Command } from "commander";
import pc from "picocolors";
import { type DecisionTable, defaultDecisionTable, loadDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput } from "../../schemas/diagnosis-input.js";
import { AppError } from "../../schemas/error-codes.js";
import { CLASSES, type Report } from "../../schemas/report.js";
import { diagnose } from "../diagnose/diagnose.js";
import { writeAtomically } from "../platform/atomic-file.js";
import { htmlReport } from "../report/html/html-report.js";
import { loadPageAssets } from "../report/html/page-assets.js";
import { markdownReport } from "../report/markdown-report.js";
import { type Paint, plain } from "../report/text-layout.js";
import { lifeText } from "../report/text-life.js";
import { textReport } from "../report/text-report.js";
import { openStore } from "../store/open-store.js";
import { type CommandIo, DB_OPTION, databasePath } from "./command-io.js";
import { type RangeOptions, selectRange } from "./correlate-range.js";
import { againstBaseline, readDiagnosisInput } from "./correlation.js";
import { explainRequest } from "./explain-request.js";
import { parseSlo } from "./slo-option.js";

interface CorrelateOptions extends RangeOptions {
  readonly db?: string;
  readonly json?: boolean;
  readonly md?: boolean;
  readonly html?: string;
  readonly slo?: string;
  readonly baseline?: string;
  readonly table?: string;
  readonly server?: string;
  readonly request?: string;
  readonly explain?: string;
  readonly failOn?: string;
}

export function register(program: Command, io: CommandIo): void {
  program
    .command("correlate")
    .description("post-mortem of a run or of a time range: the spikes, the resource behind each, the evidence, the remedy")
    .argument("[run]", "a run; or instead of it --since, --from/--to or --around")
    .option("--since <duration>", "the last while, as 30m")
    .option("--from <time>", "start of a range: ISO 8601, local time, HH:MM")
    .option("--to <time>", "end of the range (default: now)")
    .option("--around <time>", "five minutes either side of a moment")
    .option("--within <duration>", "another half-width for --around")
    .option("--server <text>", "only requests of a server whose name holds this text")
    .option("--request <id>", "only the spikes and episodes of one request")
    .option("--json", "the report as JSON, and nothing else, on stdout")
    .option("--md", "at most 15 lines of Markdown for an incident channel")
    .option("--html <file>", "also write the report as one self-contained page")
    .option("--explain <request>", "one request: its phases, what ran beside it, why it was slow or that it was not; with --json too")
    .option("--slo <limits>", "latency limits: ttft=500ms,itl=50ms,e2e=10s; a violation is a spike")
    .option("--baseline <run>", "judge against another run of the same service: shows a run that is slow throughout")
    .option("--table <file>", "another decision table (JSON)")
    .option("--fail-on <classes>", "exit with 3 when there is a spike of one of these classes, or 'any'")
    .option(...DB_OPTION)
    .action((run: string | undefined, options: CorrelateOptions) => correlateCommand(run, options, io));
}

function correlateCommand(run: string | undefined, options: CorrelateOptions, io: CommandIo): void {
  if (options.json && options.md) throw new AppError("USAGE", "--json and --md exclude each other", { mend: "give one of them" });
  const gate = parseGate(options.failOn);
  const query = {
    select: selectRange(run, options, io.wallUs()),
    slo_ms: parseSlo(options.slo),
    ...(options.server === undefined ? {} : { server: options.server }),
  };
  const table = options.table === undefined ? defaultDecisionTable() : readTable(options.table);
  const store = openStore(databasePath(options.db, io.env), { mode: "read" });
  let input: DiagnosisInput;
  try {
    input = readDiagnosisInput(store, query);
    if (options.baseline !== undefined) input = againstBaseline(store, input, options.baseline, table);
  } finally {
    store.close();
  }
  let report = diagnose(input, table);
  if (options.request !== undefined) {
    requireSpike(report, input, options.request);
    report = onlyRequest(report, options.request);
  }
  if (options.html !== undefined) {
    const page = htmlReport({ report, requests: input.requests, telemetry: input.telemetry }, loadPageAssets());
    writeAtomically(options.html, page);
    io.err(`page written: ${options.html} (${Math.ceil(page.length / 1000)} kB)\n`);
  }
  const width = io.outIsTerminal ? io.columns : 100;
  const paint = io.outIsTerminal && !io.env.NO_COLOR ? terminalPaint : plain;
  if (options.explain !== undefined) {
    const life = explainRequest(input, table, report, options.explain);
    io.out(options.json ? `${JSON.stringify(life)}\n` : lifeText(life, Math.max(MIN_WIDTH, width), paint));
  } else if (options.json) io.out(`${JSON.stringify(report)}\n`);
  else if (options.md) io.out(markdownReport(report));
  else io.out(textReport(report, { width, paint }));
  if (gate && report.spikes.some((s) => gate === "any" || gate.includes(s.class))) io.exit(3);
}

/** Narrower than this nothing can be read any more. */
const MIN_WIDTH = 60;

const terminalPaint: Paint = { bold: pc.bold, dim: pc.dim, colour: (name, text) => pc[name](text) };

function parseGate(text: string | undefined): "any" | readonly string[] | null {
  if (text === undefined) return null;
  if (text === "any") return "any";
  const classes = text.split(",").map((c) => c.trim());
  const wrong = classes.find((c) => !(CLASSES as readonly string[]).includes(c));
  if (wrong !== undefined)
    throw new AppError("USAGE", `--fail-on '${wrong}' is no class`, { mend: `use any, or of ${CLASSES.join(", ")}` });
  return classes;
}

export function readTable(file: string): DecisionTable {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    throw new AppError("FILE_UNREADABLE", `decision table ${file}: ${(error as NodeJS.ErrnoException).code ?? "cannot be read"}`, {
      cause: error,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new AppError("TABLE_INVALID", `decision table ${file} is no JSON: ${(error as Error).message}`, {
      mend: "schemas/decision-table.json is the one in use: start from a copy",
    });
  }
  return loadDecisionTable(json);
}

function requireSpike(report: Report, input: DiagnosisInput, id: string): void {
  if (report.spikes.some((s) => s.request_id === id)) return;
  if (!input.requests.request_id.includes(id))
    throw new AppError("USAGE", `no request '${id}' in ${report.run.id}`, { mend: "ids are as the client or the span wrote them" });
  throw new AppError("USAGE", `request '${id}' was not slow: it has no spike`, { mend: `--explain ${id} tells its life all the same` });
}

/** Narrows a report to one request; the summary stays that of the whole range. */
function onlyRequest(report: Report, id: string): Report {
  const spikes = report.spikes.filter((s) => s.request_id === id);
  const episodes = new Set(spikes.map((s) => s.episode));
  return { ...report, spikes, episodes: report.episodes.filter((e) => episodes.has(e.id)) };
}
