import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type ImportOutcome, importFiles, recogniseFiles } from "../../src/intake/import-files.js";
import type { ImportClock } from "../../src/intake/importers/importer.js";
import type { InputLimits } from "../../src/intake/input-file.js";
import { MemorySink } from "./memory-sink.js";

export const FIXTURES = path.resolve(import.meta.dirname, "../fixtures");
/** Real outputs and labelled runs, where they lie beside the repository. */
export const SHARED = path.resolve(import.meta.dirname, "../../../shared");
export const HAS_SHARED = fs.existsSync(path.join(SHARED, "lab", "dev"));

export async function importInto(
  paths: readonly string[],
  options: {
    format?: string;
    node?: string;
    limits?: Partial<InputLimits>;
    clock?: Partial<ImportClock>;
    columns?: readonly string[];
  } = {},
): Promise<{ sink: MemorySink; outcome: ImportOutcome }> {
  const sink = new MemorySink();
  const files = await recogniseFiles(paths, { format: options.format ?? null, limits: options.limits ?? {} });
  const outcome = await importFiles(files, {
    run: "r1",
    sink,
    clock: options.clock ?? {},
    columns: options.columns ?? null,
    ...(options.node === undefined ? {} : { node: options.node }),
  });
  return { sink, outcome };
}

/** A folder that is gone after the test. */
export function temporaryFolder(): { folder: string; remove(): void } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-import-"));
  return { folder, remove: () => fs.rmSync(folder, { recursive: true, force: true }) };
}
