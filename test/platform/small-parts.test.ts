import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBackoff } from "../../src/platform/backoff.js";
import { catchStopSignals } from "../../src/platform/lifecycle.js";
import { createLineSplitter } from "../../src/platform/line-splitter.js";
import { createLogger } from "../../src/platform/logger.js";
import { withDeadline } from "../../src/platform/timers.js";
import { fakeTimers } from "./fake-timers.js";

describe("createBackoff", () => {
  it("doubles to its cap and starts anew after a success", () => {
    const backoff = createBackoff(500, 3000);
    expect([1, 2, 3, 4, 5].map(() => backoff.failed())).toEqual([500, 1000, 2000, 3000, 3000]);
    backoff.succeeded();
    expect(backoff.failed()).toBe(500);
  });
});

describe("createLineSplitter", () => {
  it("gives the lines of the whole text however it is cut", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "ü", "€", "\n", "\r\n", ","), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(120), { maxLength: 8 }), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const splitter = createLineSplitter(1000);
        const got: string[] = [];
        const at = [0, ...cuts.map((c) => Math.min(c, bytes.length)).sort((a, b) => a - b), bytes.length];
        for (let i = 1; i < at.length; i++) got.push(...splitter.push(bytes.subarray(at[i - 1], at[i])));
        const rest = splitter.rest();
        const expected = whole.split("\n");
        const last = expected.pop()!;
        expect(got).toEqual(expected.map((line) => line.replace(/\r$/, "")));
        expect(rest ?? "").toBe(last);
      }),
    );
  });

  it("drops a line beyond the limit whole, in one piece or in many", () => {
    for (const piece of [3, 1000]) {
      const splitter = createLineSplitter(10);
      const bytes = Buffer.from(`ok\n${"x".repeat(50)}\nfine\n${"y".repeat(11)}\nend`);
      const got: string[] = [];
      for (let i = 0; i < bytes.length; i += piece) got.push(...splitter.push(bytes.subarray(i, i + piece)));
      expect(got).toEqual(["ok", "fine"]);
      expect(splitter.rest()).toBe("end");
      expect(splitter.overlong).toBe(2);
    }
  });
});

describe("withDeadline", () => {
  it("gives the work's value, or the other one when it is late", async () => {
    const timers = fakeTimers();
    const slow = withDeadline(new Promise<string>(() => {}), 100, "late", timers);
    const quick = withDeadline(Promise.resolve("done"), 100, "late", timers);
    expect(await quick).toBe("done");
    await timers.advance(100);
    expect(await slow).toBe("late");
    expect(timers.pending).toBe(0);
    await expect(withDeadline(Promise.reject(new Error("no")), 100, "late", timers)).rejects.toThrow("no");
  });
});

describe("createLogger", () => {
  it("writes JSON lines from its level up, with the fields of its children", () => {
    const lines: string[] = [];
    const log = createLogger({ level: "info", write: (line) => lines.push(line) });
    log.debug({}, "unseen");
    log.child({ collector: "host-proc" }).warn({ n: 3 }, "slow");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: "warn", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), collector: "host-proc", n: 3, msg: "slow" },
    ]);
  });
});

describe("catchStopSignals", () => {
  it("settles at the first signal and forces at the second", async () => {
    let forced = 0;
    const before = process.listenerCount("SIGTERM");
    const signals = catchStopSignals({ force: () => forced++ });
    process.emit("SIGTERM", "SIGTERM");
    expect(await signals.first).toBe("SIGTERM");
    expect(forced).toBe(0);
    process.emit("SIGINT", "SIGINT");
    expect(forced).toBe(1);
    signals.release();
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });
});
