import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { AppError } from "../../schemas/error-codes.js";
import { emptyPass, type LivePass, livePass, type PassRange } from "../agent/live/live-pass.js";
import { diagnose } from "../diagnose/diagnose.js";
import type { Store } from "../store/open-store.js";
import { readDiagnosisInput } from "./correlation.js";

/** A pass reads no more requests than this, the latest: its memory is bounded, because a thread that runs out of it may take the agent along. */
export const MOST_REQUESTS = 20_000;

/** One pass of live judging: the same path as `whyslow correlate`, over a range of the agent's own store. */
export function judgeRange(store: Store, asked: PassRange, most = MOST_REQUESTS, nowMs: () => number = () => performance.now()): LivePass {
  const begin = nowMs();
  const range = { from_us: store.read.boundedFrom(asked.from_us, asked.to_us, most), to_us: asked.to_us };
  try {
    const input = readDiagnosisInput(store, { select: range, slo_ms: {} });
    const report = diagnose(input, defaultDecisionTable());
    return livePass(range, input, report, nowMs() - begin);
  } catch (error) {
    if (error instanceof AppError && error.code === "RUN_EMPTY") return emptyPass(range, nowMs() - begin);
    throw error;
  }
}
