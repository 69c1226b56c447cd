import { Worker } from "node:worker_threads";
import { AppError, type ErrorCode } from "../../schemas/error-codes.js";
import type { Report } from "../../schemas/report.js";
import type { ReportRange } from "../agent/report-route.js";

export interface ReportOrder {
  readonly database: string;
  readonly range: ReportRange;
}

export type ReportAnswer = { readonly report: Report } | { readonly error: { readonly code: ErrorCode; readonly message: string } };

const TIMEOUT_MS = 60_000;
const MAX_HEAP_MB = 1024;

/** Makes a report in a thread of its own. Rejects with the AppError that it met there, or INTERNAL when it takes too long. */
export function reportInWorker(order: ReportOrder, script = new URL("./report-worker.js", import.meta.url)): Promise<Report> {
  const worker = new Worker(script, { workerData: order, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  return new Promise<Report>((resolve, reject) => {
    const fail = (code: ErrorCode, message: string): void => reject(new AppError(code, message));
    const timer = setTimeout(
      () => fail("INTERNAL", `the report was not ready within ${TIMEOUT_MS / 1000} s; ask for a shorter range`),
      TIMEOUT_MS,
    );
    worker.once("message", (answer: ReportAnswer) => {
      if ("report" in answer) resolve(answer.report);
      else fail(answer.error.code, answer.error.message);
    });
    worker.once("error", (error) => fail("INTERNAL", `the report failed: ${(error as Error).message}`));
    worker.once("exit", () => {
      clearTimeout(timer);
      fail("INTERNAL", "the report ended without an answer");
    });
  }).finally(() => void worker.terminate());
}
