import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { AppError } from "../../schemas/error-codes.js";
import { emptyPass, type LivePass, livePass, type PassRange } from "../agent/live/live-pass.js";
import { diagnose } from "../diagnose/diagnose.js";
import type { Store } from "../store/open-store.js";
import { readDiagnosisInput } from "./correlation.js";

/** One pass of live judging: the same path as `whyslow correlate`, over a range of the agent's own store. */
export function judgeRange(store: Store, range: PassRange, nowMs: () => number = () => performance.now()): LivePass {
  const begin = nowMs();
  try {
    const input = readDiagnosisInput(store, { select: range, slo_ms: {} });
    const report = diagnose(input, defaultDecisionTable());
    return livePass(range, input, report, nowMs() - begin);
  } catch (error) {
    if (error instanceof AppError && error.code === "RUN_EMPTY") return emptyPass(range, nowMs() - begin);
    throw error;
  }
}
