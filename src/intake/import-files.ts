import path from "node:path";
import { AppError } from "../../schemas/error-codes.js";
import type { Sink } from "../../schemas/sink.js";
import { createImportSink, type ImportStats } from "./import-sink.js";
import type { ImportClock, Importer } from "./importers/importer.js";
import { DEFAULT_INPUT_LIMITS, type InputFile, type InputLimits, openInputFile } from "./input-file.js";
import { expandPaths } from "./input-paths.js";
import { importerNamed, recogniseFormat } from "./recognise-format.js";

export interface ImportOptions {
  readonly run: string;
  readonly sink: Sink;
  /** The node's name where files do not name it. */
  readonly node?: string;
  readonly clock?: Partial<ImportClock>;
  /** Columns of tables without a header. */
  readonly columns?: readonly string[] | null;
  /** Told before each file is read. */
  onFile?(path: string, index: number, total: number): void;
}

export interface ImportedFile extends Readonly<ImportStats> {
  readonly path: string;
  readonly format: string;
  /** Its gzip stream ended early; what was whole in it was read. */
  readonly truncated: boolean;
  readonly warnings: readonly string[];
}

export interface ImportOutcome {
  readonly files: readonly ImportedFile[];
  /** Files of a folder that no importer knows or that cannot be read. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Extent of everything that was read, µs; null when nothing was. */
  readonly range: { readonly start_us: number; readonly end_us: number } | null;
}

/** Files whose format is known, ready to be read. */
export interface RecognisedFiles {
  readonly known: readonly { readonly file: InputFile; readonly importer: Importer }[];
  readonly skipped: ImportOutcome["skipped"];
  readonly limits: InputLimits;
}

/**
 * Finds the importer of every file before the first is read, so that a wrong call changes nothing. Folders are walked.
 *
 * @throws AppError for a named file that cannot be used (FILE_*), for an unknown format (USAGE), and when no file of a folder is known.
 */
export async function recogniseFiles(
  paths: readonly string[],
  options: { readonly format?: string | null; readonly limits?: Partial<InputLimits> } = {},
): Promise<RecognisedFiles> {
  const limits = { ...DEFAULT_INPUT_LIMITS, ...options.limits };
  const forced = options.format ? importerNamed(options.format) : null;
  const known: { file: InputFile; importer: Importer }[] = [];
  const skipped: { path: string; reason: string }[] = [];
  for (const { path: at, named } of expandPaths(paths)) {
    try {
      const file = openInputFile(at, limits);
      known.push({ file, importer: forced ?? (await recogniseFormat(file)) });
    } catch (error) {
      if (named || !(error instanceof AppError)) throw error;
      skipped.push({ path: at, reason: error.code === "FILE_FORMAT" ? "of no known format" : error.message });
    }
  }
  if (known.length === 0)
    throw new AppError(
      "FILE_FORMAT",
      `no file of a known format among ${skipped.length}: ${skipped[0]?.path ?? ""} ${skipped[0]?.reason ?? ""}`,
    );
  return { known, skipped, limits };
}

/** Reads recognised files into the sink, one after another. Throws AppError for a file that as a whole cannot be used. */
export async function importFiles(files: RecognisedFiles, options: ImportOptions): Promise<ImportOutcome> {
  const imported: ImportedFile[] = [];
  for (const [index, { file, importer }] of files.known.entries()) {
    options.onFile?.(file.path, index, files.known.length);
    imported.push(await importOne(file, importer, options, files.limits));
  }
  const start_us = Math.min(...imported.map((file) => file.start_us));
  const end_us = Math.max(...imported.map((file) => file.end_us));
  return { files: imported, skipped: files.skipped, range: start_us <= end_us ? { start_us, end_us } : null };
}

async function importOne(file: InputFile, importer: Importer, options: ImportOptions, limits: InputLimits): Promise<ImportedFile> {
  const { sink, stats, end, oddity } = createImportSink(options.sink, originOf(file.path));
  const warnings = new Set<string>();
  try {
    await importer.import(file, {
      run: options.run,
      node: options.node ?? "",
      sink,
      limits,
      clock: { anchor: null, zone: null, boot_us: Number.NaN, now_us: Infinity, ...options.clock },
      columns: options.columns ?? null,
      warn: (text) => warnings.add(text),
    });
  } finally {
    end();
  }
  const odd = oddity();
  if (odd !== null) warnings.add(odd);
  const truncated = await file.isTruncated();
  if (truncated) warnings.add("the gzip stream is cut or damaged: what came before was read");
  return { path: file.path, format: importer.name, truncated, warnings: [...warnings], ...stats };
}

/** The file and its folder, packed or not: the same wherever the run's folder lies. */
function originOf(at: string): string {
  return path.resolve(at).split(path.sep).slice(-2).join("/").replace(/\.gz$/, "");
}
