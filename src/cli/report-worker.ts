import { parentPort, workerData } from "node:worker_threads";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { AppError } from "../../schemas/error-codes.js";
import { openStore } from "../store/open-store.js";
import { correlate } from "./correlation.js";
import type { ReportAnswer, ReportOrder } from "./report-in-worker.js";

/** Runs in a thread of its own: the same path as `whyslow correlate`, so that a report does not hold up the agent. */
function answer({ database, range }: ReportOrder): ReportAnswer {
  try {
    const store = openStore(database, { mode: "read" });
    try {
      return { report: correlate(store, { select: range, slo_ms: {} }, defaultDecisionTable()) };
    } finally {
      store.close();
    }
  } catch (error) {
    if (error instanceof AppError) return { error: { code: error.code, message: error.message } };
    return { error: { code: "INTERNAL", message: error instanceof Error ? error.message : String(error) } };
  }
}

parentPort?.postMessage(answer(workerData as ReportOrder));
