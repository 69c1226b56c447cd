/** The program that a command line runs, below the Python that runs it. */
export interface ServerCommand {
  /** File name of the program or script without folder and `.py`; empty for `python -c` and an interactive Python. */
  readonly program: string;
  /** `python -m MODULE`; empty otherwise. */
  readonly module: string;
  /** Path of the program or script as it was written. */
  readonly path: string;
  /** What follows. */
  readonly args: readonly string[];
}

const PYTHON = /^(python|pypy)[\d.]*t?$/;
const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
/** Python options that take the next argument as their value. */
const TAKES_VALUE = new Set(["-X", "-W", "--check-hash-based-pycs"]);

/**
 * Finds the program in an argument list. Shells and wrappers (`sh -c "vllm serve"`, `tini`, `timeout`, `grep vllm`) are themselves the
 * program: what they start is a process of its own. Null for an empty list.
 */
export const resolveCommand = (args: readonly string[]): ServerCommand | null => {
  const first = args[0];
  if (first === undefined || first === "") return null;
  if (!PYTHON.test(fileName(first))) return { program: fileName(first).replace(/\.py$/, ""), module: "", path: first, args: args.slice(1) };
  for (let i = 1; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (arg === "-m") return { program: "", module: args[i + 1] ?? "", path: first, args: args.slice(i + 2) };
    if (arg === "-c") return { program: "", module: "", path: first, args: args.slice(i + 1) };
    if (TAKES_VALUE.has(arg)) i++;
    else if (!arg.startsWith("-")) return { program: fileName(arg).replace(/\.py$/, ""), module: "", path: arg, args: args.slice(i + 1) };
  }
  return { program: "", module: "", path: first, args: [] };
};
