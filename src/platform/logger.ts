import pino from "pino";

export type LogFields = Readonly<Record<string, unknown>>;

/** What every part of the agent logs through. Fields first, then one sentence. */
export interface Logger {
  debug(fields: LogFields, text: string): void;
  info(fields: LogFields, text: string): void;
  warn(fields: LogFields, text: string): void;
  error(fields: LogFields, text: string): void;
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard error (`write` takes them in tests). Written at once: nothing is lost when the process ends. */
export function createLogger(options: { level: LogLevel; write?: (line: string) => void }): Logger {
  const { write } = options;
  const destination = write ? { write } : pino.destination({ fd: 2, sync: true });
  return pino(
    { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination,
  );
}
