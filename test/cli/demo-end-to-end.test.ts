import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const WHYSLOW = new URL("../../dist/src/cli/whyslow.js", import.meta.url).pathname;
const full = process.env.WHYSLOW_FULL === "1";
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-demo-test-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
function demo(args: readonly string[], interrupt_ms?: number): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [WHYSLOW, "demo", ...args], { env: { ...process.env, TMPDIR: scratch } });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
      if (interrupt_ms !== undefined && stderr.includes("whyslow demo:")) setTimeout(() => child.kill("SIGINT"), interrupt_ms);
    });
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
/** Processes that still name something in the demo's temporary folder or hold it. */
const left = (): string[] =>
  fs
    .readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes(`TMPDIR=${scratch}`);
      } catch {
        return false;
      }
    });

describe.skipIf(!full)(`the demonstration${full ? "" : " (skipped: takes two minutes, runs with WHYSLOW_FULL=1)"}`, () => {
  it("names all five, prints report and truth as JSON, and leaves nothing behind", async () => {
    const run = await demo(["--json", "--seconds", "60"]);
    expect(run.stderr).not.toContain("\r");
    expect(run.code, run.stderr).toBe(0);
    const { report, truth } = JSON.parse(run.stdout) as { report: { schema: string }; truth: { all_right: boolean; faults: unknown[] } };
    expect(report.schema).toBe("whyslow.report/v1");
    expect(truth.all_right).toBe(true);
    expect(truth.faults).toHaveLength(5);
    expect(fs.readdirSync(scratch)).toEqual([]);
    expect(left()).toEqual([]);
  }, 240_000);

  it("cleans up when it is interrupted", async () => {
    const run = await demo([], 3000);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("interrupted");
    expect(fs.readdirSync(scratch)).toEqual([]);
    expect(left()).toEqual([]);
  }, 120_000);
});
