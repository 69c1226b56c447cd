import { afterEach, describe, expect, it } from "vitest";
import type { Judge } from "../../src/agent/live/live-loop.js";
import { liveInWorker } from "../../src/cli/live-in-worker.js";

const open: Judge[] = [];
afterEach(async () => {
  for (const judge of open.splice(0)) await judge.stop();
});

const judgeWith = (body: string): Judge => {
  const script = `import { parentPort, threadId, workerData } from "node:worker_threads";
    parentPort.on("message", (range) => { const answer = (x) => parentPort.postMessage(x); ${body} });`;
  const judge = liveInWorker({ database: "/nowhere.db" }, new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  open.push(judge);
  return judge;
};
const range = { from_us: 1, to_us: 2 };

describe("liveInWorker", () => {
  it("asks one thread again and again", async () => {
    const judge = judgeWith("answer({ pass: { ...range, ...workerData, threadId } });");
    const first = (await judge.pass(range)) as unknown as Record<string, unknown>;
    expect(first).toMatchObject({ from_us: 1, to_us: 2, database: "/nowhere.db" });
    expect(await judge.pass(range)).toEqual(first);
  });

  it("fails a pass with what went wrong, and takes a new thread for the next", async () => {
    const judge = judgeWith(`if (range.to_us === 2) throw new Error("out of luck");
      if (range.to_us === 3) process.exit(0);
      if (range.to_us === 4) answer({ error: "the database is damaged" });
      answer({ pass: range });`);
    await expect(judge.pass(range)).rejects.toThrow("out of luck");
    await expect(judge.pass({ from_us: 1, to_us: 3 })).rejects.toThrow("the thread ended");
    await expect(judge.pass({ from_us: 1, to_us: 4 })).rejects.toThrow("the database is damaged");
    expect(await judge.pass({ from_us: 1, to_us: 5 })).toEqual({ from_us: 1, to_us: 5 });
  });
});
