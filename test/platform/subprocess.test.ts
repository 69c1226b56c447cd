import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { runProgram, streamProgram } from "../../src/platform/subprocess.js";
import { fakeProgram, isAlive, until } from "./fake-program.js";

const made: { remove(): void }[] = [];
const fake = (script: string): ReturnType<typeof fakeProgram> => {
  const one = fakeProgram(script);
  made.push(one);
  return one;
};
afterEach(() => {
  for (const one of made.splice(0)) one.remove();
});
const wallUs = (): number => Date.now() * 1000;
const pidsOf = (dir: string): number[] =>
  fs
    .readdirSync(dir)
    .filter((name) => name.startsWith("pid."))
    .map((name) => Number(name.slice(4)));

describe("runProgram", () => {
  it("gives output, error text and status, in the C locale", async () => {
    const { env } = fake('#!/bin/sh\necho "out $1 $LC_ALL"\necho trouble >&2\nexit 14\n');
    const result = await runProgram("nvidia-smi", ["a b"], { timeoutMs: 10_000, env });
    expect(result).toEqual({ stdout: "out a b C\n", stderr: "trouble\n", exitCode: 14, timedOut: false, notFound: false });
  });

  it("says that a program is not installed", async () => {
    const { dir } = fake("");
    fs.rmSync(path.join(dir, "nvidia-smi"));
    const result = await runProgram("nvidia-smi", [], { timeoutMs: 10_000, env: { PATH: dir } });
    expect(result).toMatchObject({ notFound: true, exitCode: null, timedOut: false });
  });

  it("starts nothing that is not on the list", async () => {
    await expect(runProgram("sh" as "stdbuf", ["-c", "true"], { timeoutMs: 1000 })).rejects.toThrow(/not a program/);
  });

  it("trap gpu-telemetry 29: kills a hung program that ignores SIGTERM, with all its children", async () => {
    const { env, dir } = fake(`#!/bin/sh
trap '' TERM
(trap '' TERM; touch "$0.d/pid.$(sh -c 'echo $PPID')"; while :; do sleep 0.2; done) &
touch "$0.d/pid.$$"
while :; do sleep 0.2; done
`);
    const pidDir = path.join(dir, "nvidia-smi.d");
    fs.mkdirSync(pidDir);
    const result = runProgram("nvidia-smi", [], { timeoutMs: 1500, env });
    await until(() => pidsOf(pidDir).length === 2, "both processes started");
    expect(await result).toMatchObject({ timedOut: true, exitCode: null });
    for (const pid of pidsOf(pidDir)) expect(isAlive(pid)).toBe(false);
  });

  it("does not wait for a descendant of another session that keeps the pipe open", async () => {
    const { env, dir } = fake(`#!/bin/sh
setsid sh -c 'touch "$1/pid.$$"; exec sleep 300' x "$(dirname "$0")" &
while ! ls "$(dirname "$0")"/pid.* >/dev/null 2>&1; do sleep 0.05; done
echo done
`);
    const result = await runProgram("nvidia-smi", [], { timeoutMs: 60_000, env });
    const [pid] = pidsOf(dir);
    expect(pid && isAlive(pid)).toBe(true);
    process.kill(pid!, "SIGKILL");
    expect(result).toMatchObject({ stdout: "done\n", exitCode: 0, timedOut: false });
  });

  it("ends a flood of output at the limit", async () => {
    const { env } = fake("#!/bin/sh\nexec yes 0123456789\n");
    const result = await runProgram("nvidia-smi", [], { timeoutMs: 60_000, env, maxOutputBytes: 100_000 });
    expect(result.exitCode).toBe(null);
    expect(result.timedOut).toBe(false);
    expect(result.stdout.length).toBeLessThanOrEqual(100_000);
    expect(result.stdout.length).toBeGreaterThan(0);
  });

  it("ends when its signal aborts", async () => {
    const { env } = fake("#!/bin/sh\nexec sleep 300\n");
    const controller = new AbortController();
    const result = runProgram("nvidia-smi", [], { timeoutMs: 60_000, env, signal: controller.signal });
    controller.abort();
    expect(await result).toMatchObject({ exitCode: null, timedOut: false });
    expect(await runProgram("nvidia-smi", [], { timeoutMs: 60_000, env, signal: controller.signal })).toMatchObject({ exitCode: null });
  });
});

describe("streamProgram", () => {
  it("joins pieces into lines, stamps them, and keeps the last line without an end", async () => {
    const { env } = fake("#!/bin/sh\nprintf 'a,1\\nb,'\nsleep 0.3\nprintf '2\\r\\nlast'\n");
    const before = wallUs();
    const stream = streamProgram("nvidia-smi", [], { wallUs, env });
    const lines: { text: string; received_us: number }[] = [];
    for await (const line of stream.lines) lines.push(line);
    expect(lines.map((l) => l.text)).toEqual(["a,1", "b,2", "last"]);
    expect(lines[0]!.received_us).toBeGreaterThanOrEqual(before);
    expect(lines[1]!.received_us - lines[0]!.received_us).toBeGreaterThan(100_000);
    expect(await stream.ended).toMatchObject({ exitCode: 0, notFound: false });
  });

  it("kills the group, ends the lines and settles once", async () => {
    const { env, dir } = fake('#!/bin/sh\ntouch "$(dirname "$0")/pid.$$"\necho one\nsleep 300 &\nwait\n');
    const stream = streamProgram("nvidia-smi", [], { wallUs, env });
    const seen: string[] = [];
    for await (const line of stream.lines) {
      seen.push(line.text);
      void stream.kill();
    }
    expect(seen).toEqual(["one"]);
    expect(await stream.ended).toMatchObject({ exitCode: null });
    await stream.kill();
    for (const pid of pidsOf(dir)) expect(isAlive(pid)).toBe(false);
  });

  it("settles although a descendant of another session keeps the pipe open", async () => {
    const { env, dir } = fake(`#!/bin/sh
setsid sh -c 'touch "$1/pid.$$"; exec sleep 300' x "$(dirname "$0")" &
while ! ls "$(dirname "$0")"/pid.* >/dev/null 2>&1; do sleep 0.05; done
echo row
`);
    const stream = streamProgram("nvidia-smi", [], { wallUs, env });
    const seen: string[] = [];
    for await (const line of stream.lines) seen.push(line.text);
    expect(seen).toEqual(["row"]);
    expect(await stream.ended).toMatchObject({ exitCode: 0 });
    for (const pid of pidsOf(dir)) process.kill(pid, "SIGKILL");
  });

  it("drops a line beyond the limit and says so", async () => {
    const { env } = fake("#!/bin/sh\necho ok\nhead -c 5000 /dev/zero | tr '\\0' x\necho\necho fine\n");
    const dropped: string[] = [];
    const stream = streamProgram("nvidia-smi", [], {
      wallUs,
      env,
      maxLineChars: 1000,
      onDropped: (reason, n) => dropped.push(`${reason} ${n}`),
    });
    const seen: string[] = [];
    for await (const line of stream.lines) seen.push(line.text);
    expect(seen).toEqual(["ok", "fine"]);
    expect(dropped).toEqual(["overlong_line 1"]);
  });

  it("ends a flood of lines", async () => {
    const { env } = fake("#!/bin/sh\nexec yes\n");
    const dropped: string[] = [];
    const stream = streamProgram("nvidia-smi", [], { wallUs, env, maxLinesPerSecond: 5000, onDropped: (reason) => dropped.push(reason) });
    let lines = 0;
    for await (const _ of stream.lines) lines++;
    expect(lines).toBeLessThanOrEqual(5000);
    expect(dropped).toEqual(["flood"]);
    expect(await stream.ended).toMatchObject({ exitCode: null });
  });

  it("says that a program is not installed", async () => {
    const { dir } = fake("");
    fs.rmSync(path.join(dir, "nvidia-smi"));
    const stream = streamProgram("nvidia-smi", [], { wallUs, env: { PATH: dir } });
    for await (const _ of stream.lines) throw new Error("no line was expected");
    expect(await stream.ended).toMatchObject({ notFound: true, exitCode: null });
  });
});
