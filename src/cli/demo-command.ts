import type { Command } from "commander";
import pc from "picocolors";
import { AppError } from "../../schemas/error-codes.js";
import { catchStopSignals } from "../platform/lifecycle.js";
import { type Paint, plain } from "../report/text-layout.js";
import { textReport } from "../report/text-report.js";
import type { CommandIo } from "./command-io.js";
import { compareWithTruth } from "./demo/compare-truth.js";
import { comparisonText } from "./demo/comparison-text.js";
import { DEFAULT_SECONDS, MAX_SECONDS, MIN_SECONDS } from "./demo/demo-plan.js";
import { Progress } from "./demo/progress.js";
import { runDemo } from "./demo/run-demo.js";

interface DemoOptions {
  readonly json?: boolean;
  readonly seconds: string;
  readonly keep?: boolean;
}

export function register(program: Command, io: CommandIo): void {
  program
    .command("demo")
    .description("the main job on a simulated node, start to end, on any machine: real agent, five faults, report and truth")
    .option("--json", "the report and the truth as JSON, and nothing else, on stdout")
    .option("--seconds <n>", `length of the run, ${MIN_SECONDS} to ${MAX_SECONDS}`, String(DEFAULT_SECONDS))
    .option("--keep", "keep the database and say where it is")
    .action((options: DemoOptions) => demo(options, io));
}

const colours: Paint = { bold: pc.bold, dim: pc.dim, colour: (name, text) => pc[name](text) };

async function demo(options: DemoOptions, io: CommandIo): Promise<void> {
  const seconds = Number(options.seconds);
  if (!Number.isFinite(seconds) || seconds < MIN_SECONDS || seconds > MAX_SECONDS)
    throw new AppError("USAGE", `--seconds ${options.seconds} is not between ${MIN_SECONDS} and ${MAX_SECONDS}`);
  const signals = catchStopSignals();
  const abort = new AbortController();
  void signals.first.then(() => abort.abort());
  const progress = new Progress(io);
  try {
    const result = await runDemo({ seconds, keep: options.keep === true, env: { ...io.env }, signal: abort.signal, progress });
    progress.clear();
    const comparison = compareWithTruth(result.report, result.truth);
    if (options.json)
      io.out(`${JSON.stringify({ report: result.report, truth: { ...comparison, requests: result.truth.requests } }, null, 1)}\n`);
    else {
      const paint = io.outIsTerminal && !io.env.NO_COLOR ? colours : plain;
      io.out(`${textReport(result.report, { width: io.outIsTerminal ? io.columns : 100, paint })}\n`);
      io.out(comparisonText(comparison, result.start_us));
    }
    if (result.database) io.err(`kept: whyslow correlate demo --db ${result.database}\n`);
    if (comparison.all_right) return;
    const wrong = comparison.faults
      .filter((f) => !f.right)
      .map((f) => `${f.injected} (${f.found} of ${f.slow} found, named ${f.named ?? "nothing"})`);
    throw new AppError("DEMO_FAILED", `not named right: ${wrong.join(", ")}`);
  } finally {
    progress.clear();
    signals.release();
  }
}
