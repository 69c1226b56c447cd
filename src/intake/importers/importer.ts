import type { Sink } from "../../../schemas/sink.js";
import type { InputFile, InputLimits } from "../input-file.js";

/** What the caller knows about the clocks of files that do not tell it themselves. */
export interface ImportClock {
  /**
   * Places files whose times count from an unknown moment. A number: when the first request of the file was sent, µs. `boot`: the
   * file was written on this machine since its last start. `date`: the file's own date is when its run ended.
   */
  readonly anchor: number | "boot" | "date" | null;
  /** IANA zone of local times; null = nobody said, so this machine's is taken, with a warning. */
  readonly zone: string | null;
  /** Wall time at which this machine's monotonic clock was 0, µs. */
  readonly boot_us: number;
  /** Wall time now, µs: nothing in a file is later. */
  readonly now_us: number;
}

/** Where an importer's rows go, and what the file itself does not say. */
export interface ImportContext {
  readonly run: string;
  /** The node's name where the file does not name it; empty when nobody said. */
  readonly node: string;
  readonly sink: Sink;
  readonly limits: InputLimits;
  readonly clock: ImportClock;
  /** Names of the columns of a table without a header, in order; null when nobody said. */
  readonly columns: readonly string[] | null;
  /** Something that the user should know, told once a file; never about single rows, which are counted through the sink. */
  warn(text: string): void;
}

/** One file format. */
export interface Importer {
  /** For `--format` and the summary; kebab-case, equals the file's name. */
  readonly name: string;
  /** What the content is recognised by, for the list of formats in the command's help. */
  readonly looks_for: string;
  /**
   * How sure it is, 0..1, that it can read the file, from its first 64 KiB (inflated). The name may break ties only.
   * Above 0.5 counts as recognised.
   */
  recognise(head: string, fileName: string): number;
  /** One record a line, each by itself: it can be recognised by any line of the file's beginning. */
  readonly by_line?: true;
  /** Reads all rows into the sink. Throws AppError only for a file that as a whole cannot be used. */
  import(file: InputFile, context: ImportContext): Promise<void>;
}

export const defineImporter = (importer: Importer): Importer => importer;
