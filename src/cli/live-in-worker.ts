import { Worker } from "node:worker_threads";
import type { Judge } from "../agent/live/live-loop.js";
import type { LivePass, PassRange } from "../agent/live/live-pass.js";

/** What the thread is told: where the data is at its start, then one range after the other. */
export interface LiveThreadData {
  readonly database: string;
}

export type LiveAnswer = { readonly pass: LivePass } | { readonly error: string };

const TIMEOUT_MS = 60_000;
const IDLE_MS = 60_000;
const MAX_OLD_MB = 256;
/** A small nursery: what a pass reads lives long enough to leave it, and a large one is only memory. */
const MAX_YOUNG_MB = 8;

/**
 * Judges in a thread that is kept from pass to pass, with bounded memory, and ended when it had nothing to do for a while. A thread that
 * dies or hangs fails its pass; the next pass gets a new one. One pass at a time.
 */
export function liveInWorker(data: LiveThreadData, script = new URL("./live-worker.js", import.meta.url)): Judge {
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const gone = worker;
    worker = null;
    await gone?.terminate();
  };
  let settle: (answer: LiveAnswer) => void = () => {};
  const started = (): Worker => {
    if (worker) return worker;
    const thread = new Worker(script, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: MAX_OLD_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    const tell = (answer: LiveAnswer): void => {
      if (worker === thread || worker === null) settle(answer);
    };
    thread.on("message", tell);
    thread.on("error", (error) => tell({ error: (error as Error).message }));
    thread.on("exit", () => tell({ error: "the thread ended" }));
    worker = thread;
    return thread;
  };
  return {
    async pass(range: PassRange) {
      clearTimeout(idle);
      const thread = started();
      let timer: NodeJS.Timeout | undefined;
      try {
        const answer = await new Promise<LiveAnswer>((resolve) => {
          settle = resolve;
          timer = setTimeout(() => resolve({ error: `no verdict within ${TIMEOUT_MS / 1000} s` }), TIMEOUT_MS);
          thread.postMessage(range);
        });
        if ("pass" in answer) return answer.pass;
        await end();
        throw new Error(answer.error);
      } finally {
        clearTimeout(timer);
        if (worker) {
          idle = setTimeout(() => void end(), IDLE_MS);
          idle.unref();
        }
      }
    },
    stop: end,
  };
}
