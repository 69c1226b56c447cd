/**
 * Splits `/proc/PID/cmdline`. Arguments end in NUL. A process that wrote a title over its arguments (`VLLM::EngineCore`) leaves it
 * padded with NULs or blanks. Empty for kernel threads and zombies.
 */
export const splitCmdline = (text: string): readonly string[] => {
  const args = text.replace(/[\0\s]+$/, "");
  return args === "" ? [] : args.split("\0");
};

/** The value of `--NAME VALUE` or `--NAME=VALUE`, the last one given, as argument parsers take it; null when absent or without a value. */
export const flagValue = (args: readonly string[], ...names: readonly string[]): string | null => {
  let found: string | null = null;
  for (const [i, arg] of args.entries()) {
    const equals = arg.indexOf("=");
    const next = args[i + 1];
    if (equals > 0 && names.includes(arg.slice(0, equals))) found = arg.slice(equals + 1);
    else if (names.includes(arg) && next !== undefined && !next.startsWith("-")) found = next;
  }
  return found === "" ? null : found;
};
