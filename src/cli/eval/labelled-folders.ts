import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import type { DecisionTable } from "../../../schemas/decision-table.js";
import { AppError } from "../../../schemas/error-codes.js";
import type { Report } from "../../../schemas/report.js";
import { type RunLabels, runLabelsSchema } from "../../../schemas/run-labels.js";
import { importFiles, recogniseFiles } from "../../intake/import-files.js";
import { openStore } from "../../store/open-store.js";
import { correlate } from "../correlation.js";

const LABELS = ["labels.json", "labels.json.gz"];
const RUN = "labelled";

const labelsFile = (folder: string): string | null =>
  LABELS.map((name) => path.join(folder, name)).find((file) => fs.existsSync(file)) ?? null;

/** The folders of labelled runs that a path names: itself, or those in it. Throws FILE_UNREADABLE, or FILE_FORMAT when there is none. */
export function labelledFolders(given: string): string[] {
  let entries: fs.Dirent[];
  try {
    entries = fs.readdirSync(given, { withFileTypes: true });
  } catch (error) {
    throw new AppError("FILE_UNREADABLE", `${given}: ${(error as NodeJS.ErrnoException).code ?? "cannot be read"}`, { cause: error });
  }
  if (labelsFile(given)) return [given];
  const inside = entries.filter((e) => e.isDirectory()).map((e) => path.join(given, e.name));
  const found = inside.filter((folder) => labelsFile(folder)).sort();
  if (found.length > 0) return found;
  throw new AppError("FILE_FORMAT", `${given} holds no labelled run`, {
    mend: "a run is a folder with labels.json beside its files: docs/labelled-runs.md",
  });
}

/** The labels of a run. Throws FILE_FORMAT where they are not as docs/labelled-runs.md says. */
export function readLabels(folder: string): RunLabels {
  const file = labelsFile(folder)!;
  const bytes = fs.readFileSync(file);
  let json: unknown;
  try {
    json = JSON.parse((file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8"));
  } catch (error) {
    throw new AppError("FILE_FORMAT", `${file} is no JSON: ${(error as Error).message}`, { cause: error });
  }
  const read = runLabelsSchema.safeParse(json);
  if (read.success) return read.data;
  const issue = read.error.issues[0]!;
  throw new AppError("FILE_FORMAT", `${file}: ${issue.path.join(".")}: ${issue.message}`, { mend: "see docs/labelled-runs.md" });
}

/** Imports and correlates one run in a database of its own, which is gone afterwards. */
export async function correlateFolder(folder: string, table: DecisionTable): Promise<Report> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-eval-"));
  try {
    const store = openStore(path.join(scratch, "eval.db"), { mode: "write" });
    try {
      const files = fs.readdirSync(folder).filter((name) => !LABELS.includes(name));
      const known = await recogniseFiles(files.sort().map((name) => path.join(folder, name)));
      store.runs.create(RUN);
      const { range } = await importFiles(known, { run: RUN, sink: store.sink });
      if (range) store.runs.extend(RUN, range.start_us, range.end_us);
      return correlate(store, { select: { run: RUN }, slo_ms: {} }, table);
    } finally {
      store.close();
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}
