import { execa } from "execa";
import type { CommandResult, LineStream, Program } from "../../schemas/collector.js";
import { createLineSplitter } from "./line-splitter.js";
import { withDeadline } from "./timers.js";

/** Everything that may be started. Names are looked up in PATH; they never come from a configuration or the network. */
const PROGRAMS: ReadonlySet<Program> = new Set<Program>(["nvidia-smi", "stdbuf"]);

const TERM_GRACE_MS = 1000;
/** How long output that is already in a pipe may take to be read after the program has ended. */
const PIPE_GRACE_MS = 500;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
const MAX_LINE_CHARS = 64 * 1024;
const MAX_LINES_PER_SECOND = 20_000;

export interface RunOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly maxOutputBytes?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface StreamOptions {
  /** Wall clock in µs, for the arrival stamps. */
  readonly wallUs: () => number;
  readonly signal?: AbortSignal;
  readonly maxLineChars?: number;
  readonly maxLinesPerSecond?: number;
  /** Told of lines that were dropped (`overlong_line`) and of a flood that ended the program (`flood`). */
  readonly onDropped?: (reason: "overlong_line" | "flood", count: number) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const liveGroups = new Set<number>();
let exitHookSet = false;

function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Ends every process of a group: SIGTERM, then SIGKILL after a second. A process that the kernel does not let die is given up. */
async function killGroup(pid: number): Promise<void> {
  if (!signalGroup(pid, "SIGTERM")) return;
  for (let waited = 0; waited < TERM_GRACE_MS; waited += 25) {
    await pause(25);
    if (!signalGroup(pid, 0)) return;
  }
  signalGroup(pid, "SIGKILL");
  for (let waited = 0; waited < TERM_GRACE_MS && signalGroup(pid, 0); waited += 25) await pause(25);
}

interface Started {
  readonly stdout: NodeJS.ReadableStream & AsyncIterable<Uint8Array> & { destroy(): void };
  readonly stderrText: () => string;
  /** Settles when the program itself has ended, whether or not a descendant still holds its pipes. */
  readonly exited: Promise<{ exitCode: number | null; notFound: boolean }>;
  /** Closes our ends of the pipes, so that nobody who holds the other ends can keep us waiting. */
  closePipes(): void;
  kill(): Promise<void>;
}

function start(program: Program, args: readonly string[], env: RunOptions["env"]): Started {
  if (!PROGRAMS.has(program)) throw new Error(`not a program that may be started: ${String(program)}`);
  const child = execa(program, [...args], {
    detached: true,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    buffer: false,
    encoding: "buffer",
    reject: false,
    env: { ...env, LC_ALL: "C" },
  });
  const pid = child.pid;
  if (pid !== undefined) liveGroups.add(pid);
  if (!exitHookSet) {
    exitHookSet = true;
    process.on("exit", () => {
      for (const group of liveGroups) signalGroup(group, "SIGKILL");
    });
  }
  const stdout = child.stdout;
  const stderr = child.stderr;
  const errorPieces: Uint8Array[] = [];
  let errorBytes = 0;
  stderr.on("data", (piece: Uint8Array) => {
    if (errorBytes < MAX_STDERR_BYTES) errorPieces.push(piece);
    errorBytes += piece.length;
  });
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  let killing: Promise<void> | null = null;
  const exited = new Promise<{ exitCode: number | null; notFound: boolean }>((resolve) => {
    child.once("exit", (code) => resolve({ exitCode: code, notFound: false }));
    // Without a process there is no `exit`: execa settles with the reason instead.
    child.then(
      (result) =>
        resolve({
          exitCode: result.exitCode ?? null,
          notFound: pid === undefined && (result.code === "ENOENT" || result.code === "EACCES"),
        }),
      () => resolve({ exitCode: null, notFound: false }),
    );
  });
  const kill = (): Promise<void> => {
    if (pid === undefined) return Promise.resolve();
    killing ??= killGroup(pid).finally(() => liveGroups.delete(pid));
    return killing;
  };
  return {
    stdout: stdout as Started["stdout"],
    stderrText: () => Buffer.concat(errorPieces).subarray(0, MAX_STDERR_BYTES).toString("utf8"),
    exited,
    closePipes() {
      stdout.destroy();
      stderr.destroy();
    },
    kill,
  };
}

/**
 * Runs a program to its end, at the latest to `timeoutMs`; then its whole process group is killed and the answer says so.
 * Output beyond `maxOutputBytes` (16 MiB) ends the program too. Never rejects, never waits for a descendant that keeps a pipe open.
 */
export async function runProgram(program: Program, args: readonly string[], options: RunOptions): Promise<CommandResult> {
  if (options.signal?.aborted) return { stdout: "", stderr: "aborted before the start", exitCode: null, timedOut: false, notFound: false };
  const child = start(program, args, options.env);
  const limit = options.maxOutputBytes ?? MAX_OUTPUT_BYTES;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let stop: (why: "late" | "aborted" | "flood") => void = () => {};
  const stopped = new Promise<"late" | "aborted" | "flood">((resolve) => {
    stop = resolve;
  });
  child.stdout.on("data", (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes <= limit) pieces.push(piece);
    else stop("flood");
  });
  const closed = new Promise<void>((resolve) => void child.stdout.once("close", resolve).once("end", resolve));
  const abort = (): void => stop("aborted");
  options.signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => stop("late"), options.timeoutMs);
  const first = await Promise.race([child.exited, stopped]);
  clearTimeout(timer);
  options.signal?.removeEventListener("abort", abort);
  await child.kill();
  if (typeof first !== "string") await withDeadline(closed, first.notFound ? 0 : PIPE_GRACE_MS, undefined);
  child.closePipes();
  return {
    stdout: Buffer.concat(pieces).toString("utf8"),
    stderr: child.stderrText(),
    exitCode: typeof first === "string" ? null : first.exitCode,
    timedOut: first === "late",
    notFound: typeof first === "string" ? false : first.notFound,
  };
}

/**
 * Starts a long-lived program and hands out its lines with the wall time at which they were read. A consumer that is slow slows
 * the program down (its pipe fills). More than `maxLinesPerSecond` ends it. `ended` settles although a descendant keeps the pipe open.
 */
export function streamProgram(program: Program, args: readonly string[], options: StreamOptions): LineStream {
  const child = start(program, args, options.env);
  const splitter = createLineSplitter(options.maxLineChars ?? MAX_LINE_CHARS);
  const maxRate = options.maxLinesPerSecond ?? MAX_LINES_PER_SECOND;
  let killed = false;
  const kill = async (): Promise<void> => {
    killed = true;
    await child.kill();
    child.closePipes();
  };
  const abort = (): void => void kill();
  if (options.signal?.aborted) abort();
  options.signal?.addEventListener("abort", abort, { once: true });
  const ended = child.exited.then(async ({ exitCode, notFound }): Promise<CommandResult> => {
    options.signal?.removeEventListener("abort", abort);
    await child.kill();
    await withDeadline(drained, notFound ? 0 : PIPE_GRACE_MS, undefined);
    child.closePipes();
    return { stdout: "", stderr: child.stderrText(), exitCode: killed ? null : exitCode, timedOut: false, notFound };
  });
  let markDrained = (): void => {};
  const drained = new Promise<void>((resolve) => {
    markDrained = resolve;
  });
  child.stdout.once("close", markDrained);

  async function* lines(): AsyncGenerator<{ text: string; received_us: number }> {
    let windowStart = performance.now();
    let inWindow = 0;
    let overlong = 0;
    let atEnd = false;
    try {
      for await (const chunk of child.stdout) {
        const received_us = options.wallUs();
        const now = performance.now();
        if (now - windowStart >= 1000) {
          windowStart = now;
          inWindow = 0;
        }
        const batch = splitter.push(chunk);
        inWindow += batch.length;
        if (splitter.overlong > overlong) options.onDropped?.("overlong_line", splitter.overlong - overlong);
        overlong = splitter.overlong;
        if (inWindow > maxRate) {
          options.onDropped?.("flood", batch.length);
          return;
        }
        for (const text of batch) yield { text, received_us };
      }
      atEnd = true;
      const rest = splitter.rest();
      if (rest !== null && !killed) yield { text: rest, received_us: options.wallUs() };
    } catch {
      // The pipe was closed under the reader: the program was killed, or its end was waited for long enough.
    } finally {
      markDrained();
      // At the end of its output a program gets the moment that it needs to end by itself, with its own exit status.
      if (atEnd) await withDeadline(child.exited, PIPE_GRACE_MS, undefined);
      if (atEnd) await child.kill();
      else await kill();
    }
  }
  return { lines: lines(), ended, kill };
}
