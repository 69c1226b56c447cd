import { describe, expect, it } from "vitest";
import { AppError } from "../../schemas/error-codes.js";
import { reportInWorker } from "../../src/cli/report-in-worker.js";

const order = { database: "/nowhere.db", range: { from_us: 1, to_us: 2 } };
const worker = (body: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from "node:worker_threads"; ${body}`)}`);
const failure = async (body: string): Promise<AppError> => {
  const error = await reportInWorker(order, worker(body)).catch((e: unknown) => e);
  if (error instanceof AppError) return error;
  throw new Error(`no AppError: ${String(error)}`);
};

describe("reportInWorker", () => {
  it("hands the order over and gives the report back", async () => {
    expect(await reportInWorker(order, worker("parentPort.postMessage({ report: workerData });"))).toEqual(order);
  });

  it("gives the error that was met there, with its code", async () => {
    const error = await failure('parentPort.postMessage({ error: { code: "RUN_EMPTY", message: "nothing is stored" } });');
    expect(error).toMatchObject({ code: "RUN_EMPTY", message: "nothing is stored" });
  });

  it("tells a crash, and an end without an answer", async () => {
    expect(await failure('throw new Error("out of luck");')).toMatchObject({ code: "INTERNAL", message: "the report failed: out of luck" });
    expect(await failure("")).toMatchObject({ code: "INTERNAL", message: "the report ended without an answer" });
  });
});
