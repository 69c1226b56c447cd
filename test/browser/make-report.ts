import fs from "node:fs";
import path from "node:path";
import { type Report, reportSchema } from "../../schemas/report.js";
import { cli } from "../cli/run-in-process.js";

export interface MadeReport {
  readonly file: string;
  readonly html: string;
  readonly report: Report;
}

/** Imports files into a run of their own and writes its page, as a user does: `import`, then `correlate --html --json`. */
export async function makeReport(folder: string, run: string, files: readonly string[]): Promise<MadeReport> {
  const db = path.join(folder, `${run}.db`);
  const file = path.join(folder, `${run}.html`);
  const imported = await cli(["import", run, ...files, "--db", db]);
  if (imported.status !== 0) throw new Error(imported.err);
  const { status, out, err } = await cli(["correlate", run, "--db", db, "--json", "--html", file]);
  if (status !== 0) throw new Error(err);
  return { file, html: fs.readFileSync(file, "utf8"), report: reportSchema.parse(JSON.parse(out)) };
}
