/** Every error that reaches a person has a code of this list; `docs/errors.md` is made from it. */
export const ERROR_CODES = {
  CONFIG_INVALID: "The configuration file cannot be used",
  USAGE: "The command was called wrongly",
  DB_OPEN: "The database cannot be opened",
  DB_VERSION: "The database was written by a newer version",
  DB_CORRUPT: "The database is damaged",
  DB_WRITE: "The database cannot be written",
  RUN_UNKNOWN: "There is no run of that name",
  RUN_EMPTY: "The run or range holds no requests and no telemetry",
  FILE_UNREADABLE: "An input file cannot be read",
  FILE_EMPTY: "An input file is empty",
  FILE_FORMAT: "No importer recognises the file",
  FILE_TOO_LARGE: "An input file inflates beyond the limit",
  FILE_WRITE: "An output file cannot be written",
  TIME_INVALID: "A time or duration cannot be understood",
  TABLE_INVALID: "The decision table cannot be used",
  PORT_IN_USE: "A port is already in use",
  AGENT_UNREACHABLE: "The agent does not answer",
  DEMO_FAILED: "The demonstration could not finish",
  INTERNAL: "A defect of whyslow",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Exit status of the command line: 1 failed, 2 wrong call or configuration. */
const EXIT_TWO: ReadonlySet<ErrorCode> = new Set(["CONFIG_INVALID", "USAGE", "TIME_INVALID", "TABLE_INVALID"]);

/** An error for a person: one line of what and where, one of the mend. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** What to do about it; null when there is nothing sensible. */
  readonly mend: string | null;
  readonly exitStatus: 1 | 2;

  constructor(code: ErrorCode, message: string, options: { mend?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.mend = options.mend ?? null;
    this.exitStatus = EXIT_TWO.has(code) ? 2 : 1;
  }
}
