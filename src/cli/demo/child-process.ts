import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { AppError } from "../../../schemas/error-codes.js";

const GRACE_MS = 8000;
const KEPT_LINES = 20;

/** One of our own programs as a child in a process group of its own. */
export class OwnProcess {
  /** Standard output, whole. */
  stdout = "";
  /** The last lines of both outputs, for messages. */
  readonly lines: string[] = [];
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;
  private readonly waiting: { readonly pattern: RegExp; readonly found: (match: RegExpExecArray) => void }[] = [];

  constructor(
    readonly name: string,
    script: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ) {
    const child = spawn(process.execPath, [script, ...args], { detached: true, stdio: ["pipe", "pipe", "pipe"], env });
    this.child = child;
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk: Buffer) => {
      this.stdout += chunk.toString("utf8");
    });
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", (line) => this.seen(line));
    this.exited = new Promise((resolve) => {
      child.once("error", () => resolve(null));
      child.once("close", (code) => resolve(code));
    });
  }

  /** Process id; 0 when it could not be started. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  private seen(line: string): void {
    this.lines.push(line);
    if (this.lines.length > KEPT_LINES) this.lines.shift();
    for (const { pattern, found } of this.waiting) {
      const match = pattern.exec(line);
      if (match) found(match);
    }
  }

  /**
   * The first line that matches, of those printed from now on.
   * @throws AppError DEMO_FAILED when the program ends or the time is over before.
   */
  async line(pattern: RegExp, timeout_ms: number): Promise<RegExpExecArray> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), timeout_ms);
    });
    const found = new Promise<RegExpExecArray>((resolve) => this.waiting.push({ pattern, found: resolve }));
    const first = await Promise.race([found, late, this.exited.then(() => "ended" as const)]);
    clearTimeout(timer);
    if (typeof first !== "string") return first;
    throw this.failure(first === "late" ? `is not ready after ${timeout_ms / 1000} s` : "ended before it was ready");
  }

  failure(what: string): AppError {
    return new AppError("DEMO_FAILED", `the ${this.name} ${what}: ${this.lines.at(-1) ?? "it said nothing"}`);
  }

  /** Asks it to end, then ends its whole group; settles when it is gone. */
  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill("SIGTERM");
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, GRACE_MS);
      });
      await Promise.race([this.exited, late]);
      clearTimeout(timer);
    }
    this.killGroup();
    if (this.child.pid !== undefined) await this.exited;
  }

  /** At once and without waiting: for the way out of the process. */
  killGroup(): void {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // The group is gone already.
    }
  }
}
