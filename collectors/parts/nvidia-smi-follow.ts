import type { CollectorContext, CommandResult, Reading } from "../../schemas/collector.js";
import type { Mark } from "../../schemas/telemetry.js";
import { createCycleGrouper } from "../../src/text/nvidia-smi-cycles.js";
import { classifySmiEnd, type SmiProblem } from "../../src/text/nvidia-smi-errors.js";
import { createRowClock, type RowClock } from "../../src/text/nvidia-smi-stamp.js";
import { addRefused, refuse } from "../../src/text/nvidia-smi-values.js";

/** Held-back cycles after which the program is started again with a line-buffered pipe. */
const HELD_BEFORE_UNBUFFERING = 8;

/** Lines in a row that are no rows, after which the output is given up as unreadable. */
const MOST_UNREADABLE = 20;
const UNREADABLE: SmiProblem = { state: "failed", scope: "program", text: "nvidia-smi's output cannot be read" };

export interface DatedRow<R> {
  readonly row: R;
  readonly ts_us: number;
  readonly epoch: number;
}

type LineEvent<R> =
  | { readonly kind: "row"; readonly row: R }
  | { readonly kind: "header" | "blank" }
  | { readonly kind: "problem"; readonly problem: SmiProblem }
  | { readonly kind: "rejected"; readonly reason: string };

/** A looping nvidia-smi command and how to read it. */
export interface SmiLoop<R> {
  readonly args: readonly string[];
  readonly interval_ms: number;
  readonly resolution_us: number;
  createReader(): { push(line: string): LineEvent<R> };
  /** What tells the row's GPU apart; null refuses the row. */
  key(row: R): string | null;
  stamp_us(row: R): number | null;
  /** What one cycle of all GPUs amounts to, and why the program should be ended, if it should. */
  cycle(rows: readonly DatedRow<R>[]): { readonly reading: Reading; readonly stop?: string };
}

/** How a loop ended. `problem`: it gave no row and said, or showed, why. */
export type SmiLoopEnd =
  | { readonly kind: "aborted" }
  | { readonly kind: "ended" }
  | { readonly kind: "stopped"; readonly why: string }
  | { readonly kind: "problem"; readonly problem: SmiProblem };

type Once = SmiLoopEnd | { readonly kind: "held" } | { readonly kind: "no_stdbuf" };

const followOnce = async <R>(
  ctx: CollectorContext,
  loop: SmiLoop<R>,
  emit: (r: Reading) => void,
  mode: "plain" | "line" | "as-it-is",
): Promise<Once> => {
  const interval_us = loop.interval_ms * 1000;
  const grouper = createCycleGrouper<DatedRow<R>>(interval_us / 2);
  const reader = loop.createReader();
  const lastTs = new Map<string, number>();
  const told = new Set<string>();
  let rejected: Record<string, number> = {};
  let marks: Mark[] = [];
  let [rows, heldCycles, unreadable, epoch] = [0, 0, 0, ctx.clock.epoch()];
  let [late, problem, stop]: [string | null, SmiProblem | null, Once | null] = [null, null, null];
  const clockFrom = (started_us: number): RowClock =>
    createRowClock({ started_us, tolerance_us: 2 * interval_us, resolution_us: loop.resolution_us });
  let clock = clockFrom(ctx.clock.wallUs());

  const send = (reading: Reading): void => {
    const all = { ...reading.rejected };
    addRefused(all, rejected);
    const notice = [reading.notice, late].filter((text) => text != null).join("; ");
    emit({ ...reading, marks: [...(reading.marks ?? []), ...marks], rejected: all, notice: notice === "" ? null : notice });
    [rejected, marks] = [{}, []];
  };
  const finish = (cycle: readonly DatedRow<R>[]): void => {
    if (cycle.length === 0) return;
    const result = loop.cycle(cycle);
    send(result.reading);
    if (result.stop !== undefined) stop ??= { kind: "stopped", why: result.stop };
    if (late !== null && ++heldCycles >= HELD_BEFORE_UNBUFFERING && mode === "plain") stop ??= { kind: "held" };
    late = null;
  };
  const takeRow = (row: R, received_us: number): void => {
    const key = loop.key(row);
    if (key === null) {
      refuse(rejected, "no_gpu");
      return;
    }
    rows += 1;
    const nowEpoch = ctx.clock.epoch();
    if (nowEpoch !== epoch) {
      epoch = nowEpoch;
      clock = clockFrom(received_us - interval_us);
      lastTs.clear();
    }
    const stamp_us = loop.stamp_us(row);
    const time = clock.place(received_us, stamp_us);
    const ts_us = Math.max(time.ts_us, (lastTs.get(key) ?? -Infinity) + 1);
    lastTs.set(key, ts_us);
    if (time.held) late ??= `nvidia-smi's output arrives ${(time.late_us / 1e6).toFixed(1)} s late: its pipe is block-buffered`;
    for (const cycle of grouper.push(key, stamp_us ?? received_us, { row, ts_us, epoch })) finish(cycle);
  };
  const takeProblem = (said: SmiProblem, received_us: number): void => {
    problem ??= said;
    if (said.scope === "field" || said.scope === "option") {
      if (rows === 0) stop ??= { kind: "problem", problem: said };
    } else if (said.scope !== "program" && !told.has(said.text)) {
      told.add(said.text);
      marks.push({ ts_us: received_us, node: ctx.node, kind: "gpu_fault", text: said.text });
    }
  };

  const child = mode === "line" ? ctx.stream("stdbuf", ["-oL", "nvidia-smi", ...loop.args]) : ctx.stream("nvidia-smi", loop.args);
  const kill = (): void => void child.kill();
  ctx.signal.addEventListener("abort", kill, { once: true });
  let end: CommandResult;
  try {
    for await (const { text, received_us } of child.lines) {
      const event = reader.push(text);
      if (event.kind === "row") takeRow(event.row, received_us);
      else if (event.kind === "problem") takeProblem(event.problem, received_us);
      else if (event.kind === "rejected") refuse(rejected, event.reason);
      unreadable = event.kind === "rejected" ? unreadable + 1 : 0;
      if (unreadable >= MOST_UNREADABLE) stop ??= { kind: "problem", problem: problem ?? UNREADABLE };
      if (stop !== null || ctx.signal.aborted) break;
    }
    finish(grouper.flush());
    if (Object.keys(rejected).length > 0 || marks.length > 0) send({ samples: [] });
  } finally {
    ctx.signal.removeEventListener("abort", kill);
    if (stop !== null || ctx.signal.aborted) await child.kill();
    end = await child.ended;
  }
  if (ctx.signal.aborted) return { kind: "aborted" };
  if (stop !== null) return stop;
  if (mode === "line" && (end.notFound || end.exitCode === 127)) return { kind: "no_stdbuf" };
  if (rows > 0) return { kind: "ended" };
  const shown = problem ?? classifySmiEnd(end)[0];
  return { kind: "problem", problem: shown ?? { state: "failed", scope: "program", text: "nvidia-smi ended without a row" } };
};

/** Only the first try can be held, and only the second can lack stdbuf; anything else is an end of its own. */
const settled = (end: Once): SmiLoopEnd => (end.kind === "held" || end.kind === "no_stdbuf" ? { kind: "ended" } : end);

/**
 * Runs a looping nvidia-smi until it ends, is told to, or the signal aborts; emits one reading a cycle. When its pipe is seen to hold
 * rows back, it is started again at once under `stdbuf -oL`, if there is one; until then rows are dated by their own spacing.
 */
export const followSmi = async <R>(ctx: CollectorContext, loop: SmiLoop<R>, emit: (reading: Reading) => void): Promise<SmiLoopEnd> => {
  const plain = await followOnce(ctx, loop, emit, "plain");
  if (plain.kind !== "held") return settled(plain);
  ctx.log.warn({ program: "nvidia-smi" }, "output is block-buffered: starting it again under stdbuf");
  const unbuffered = await followOnce(ctx, loop, emit, "line");
  return settled(unbuffered.kind === "no_stdbuf" ? await followOnce(ctx, loop, emit, "as-it-is") : unbuffered);
};
