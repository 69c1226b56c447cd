import { parentPort, workerData } from "node:worker_threads";
import type { PassRange } from "../agent/live/live-pass.js";
import { openStore } from "../store/open-store.js";
import { judgeRange } from "./judge-range.js";
import type { LiveAnswer, LiveThreadData } from "./live-in-worker.js";

/** Runs in a thread of its own. The store is opened for each pass: between passes nothing is held open. */
function answer({ database }: LiveThreadData, range: PassRange): LiveAnswer {
  try {
    const store = openStore(database, { mode: "read" });
    try {
      return { pass: judgeRange(store, range) };
    } finally {
      store.close();
    }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on("message", (range: PassRange) => parentPort?.postMessage(answer(workerData as LiveThreadData, range)));
