import type { CollectorContext, CommandResult, Program, Reading } from "../../schemas/collector.js";

export const NODE = "node-a";
export const START_US = Date.UTC(2026, 4, 4, 8, 0, 0) * 1000;

export interface FakeStream {
  readonly lines: readonly { readonly text: string; readonly received_us: number }[];
  readonly end?: Partial<CommandResult>;
  /** Stays open after its lines until it is killed. */
  readonly stays?: boolean;
}

export interface FakeSmi {
  /** Answers `run`; a text is stdout with status 0. */
  readonly run?: (args: readonly string[]) => string | Partial<CommandResult>;
  /** Answers `stream`, call by call. */
  readonly streams?: readonly FakeStream[];
  readonly interval_ms?: number;
}

const ok: CommandResult = { stdout: "", stderr: "", exitCode: 0, timedOut: false, notFound: false };

/** A context whose nvidia-smi is a script; `calls` are the commands that were given, `kills` how many streams were killed. */
export const fakeContext = (smi: FakeSmi) => {
  const calls: string[] = [];
  const abort = new AbortController();
  const clock = { wall_us: START_US, mono_us: 0, epoch: 0 };
  let [streamed, kills] = [0, 0];
  const ctx: CollectorContext = {
    node: NODE,
    clock: { wallUs: () => clock.wall_us, monoUs: () => clock.mono_us, epoch: () => clock.epoch },
    signal: abort.signal,
    log: { debug() {}, info() {}, warn() {} },
    roots: { proc: "/nonexistent", sys: "/nonexistent" },
    interval_ms: smi.interval_ms ?? 1000,
    timeout_ms: 5000,
    url: null,
    servers: [],
    async run(program: Program, args) {
      calls.push([program, ...args].join(" "));
      const answer = smi.run?.(args) ?? { notFound: true, exitCode: null };
      return { ...ok, ...(typeof answer === "string" ? { stdout: answer } : answer) };
    },
    stream(program: Program, args) {
      calls.push([program, ...args].join(" "));
      const script = smi.streams?.[streamed++] ?? { lines: [], end: { notFound: true, exitCode: null } };
      let killed: () => void = () => {};
      const death = new Promise<void>((resolve) => {
        killed = resolve;
      });
      let over: () => void = () => {};
      const done = new Promise<void>((resolve) => {
        over = resolve;
      });
      async function* lines() {
        for (const line of script.lines) {
          clock.wall_us = line.received_us;
          yield line;
        }
        if (script.stays) await death;
        over();
      }
      return {
        lines: lines(),
        ended: Promise.race([done, death]).then(() => ({ ...ok, ...script.end })),
        async kill() {
          kills += 1;
          killed();
        },
      };
    },
    http: () => Promise.reject(new Error("no HTTP here")),
  };
  return { ctx, calls, clock, abort, kills: () => kills };
};

/** The lines of a text, all received `delay_us` after `at(i)`. */
export const linesOf = (text: string, at: (line: number) => number): FakeStream["lines"] =>
  text
    .split("\n")
    .filter((line, i, all) => line !== "" || i < all.length - 1)
    .map((line, i) => ({ text: line, received_us: at(i) }));

export const collect = () => {
  const readings: Reading[] = [];
  return { readings, emit: (reading: Reading): void => void readings.push(reading) };
};
