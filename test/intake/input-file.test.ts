import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_INPUT_LIMITS, openInputFile } from "../../src/intake/input-file.js";
import { readLines } from "../../src/intake/input-lines.js";
import { FIXTURES, importInto, temporaryFolder } from "./run-import.js";

let scratch: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  scratch = temporaryFolder();
});
afterEach(() => scratch.remove());

const write = (name: string, content: string | Buffer): string => {
  const at = path.join(scratch.folder, name);
  fs.writeFileSync(at, content);
  return at;
};
const record = (i: number): string =>
  `{"metadata":{"x_request_id":"r${i}","request_start_ns":${1781000000000000000n + BigInt(i) * 1000000n},"request_end_ns":${1781000001000000000n + BigInt(i) * 1000000n},"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":1000,"unit":"ms"}},"error":null}\n`;
const records = (n: number): string => Array.from({ length: n }, (_, i) => record(i)).join("");

describe("gzip", () => {
  it("is known by its first bytes, whatever the name; several members are one file", async () => {
    const file = write("plain-name.jsonl", Buffer.concat([zlib.gzipSync(records(3)), zlib.gzipSync(records(5).slice(records(3).length))]));
    const { outcome } = await importInto([file, write("not-gzip.jsonl.gz", records(2))]);
    expect(outcome.files.map((f) => [f.requests, f.truncated])).toEqual([
      [5, false],
      [2, false],
    ]);
  });

  it("that is cut keeps what was whole", async () => {
    const whole = zlib.gzipSync(records(2000));
    const { outcome } = await importInto([write("cut.jsonl.gz", whole.subarray(0, whole.length / 2))]);
    const file = outcome.files[0];
    expect(file?.truncated).toBe(true);
    expect(file?.warnings[0]).toContain("cut or damaged");
    expect(file?.requests).toBeGreaterThan(500);
    expect(file?.requests).toBeLessThan(2000);
    expect(file?.rejected).toEqual({ truncated: 1 });
  });

  it("that is damaged keeps what came before", async () => {
    const whole = zlib.gzipSync(records(20_000), { level: 1 });
    whole.fill(0xff, whole.length - 2000, whole.length - 1900);
    const { outcome } = await importInto([write("damaged.jsonl.gz", whole)]);
    expect(outcome.files[0]?.truncated).toBe(true);
    expect(outcome.files[0]?.requests).toBeGreaterThan(1000);
  });

  it("bombs are refused with one line, and never held in memory", async () => {
    const bomb = write("bomb.jsonl.gz", zlib.gzipSync(Buffer.concat([Buffer.from(record(0)), Buffer.alloc(12 * 2 ** 20)])));
    await expect(importInto([bomb], { limits: { ratio_from_bytes: 4 * 2 ** 20 } })).rejects.toMatchObject({
      code: "FILE_TOO_LARGE",
      exitStatus: 1,
    });
    await expect(importInto([bomb], { limits: { max_ratio: 1e9, max_bytes: 8 * 2 ** 20 } })).rejects.toMatchObject({
      code: "FILE_TOO_LARGE",
    });
    // Below every limit it is a line that is too long; the lines around it are kept.
    const lines = write("long-line.jsonl.gz", zlib.gzipSync(`${record(0)}{"x":"${"x".repeat(300_000)}"}\n${record(1)}`));
    const { outcome } = await importInto([lines], { limits: { max_line_bytes: 200_000 } });
    expect(outcome.files[0]).toMatchObject({ requests: 2, rejected: { line_too_long: 1 } });
  });
});

describe("files that cannot be used", () => {
  it("are refused by name, with one clear line each", async () => {
    const good = write("good.jsonl", records(1));
    await expect(importInto([good, path.join(scratch.folder, "nowhere")])).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
    await expect(importInto([good, write("empty", "")])).rejects.toMatchObject({ code: "FILE_EMPTY" });
    await expect(importInto([good, write("blank", "\n \n")])).rejects.toMatchObject({ code: "FILE_EMPTY" });
    await expect(importInto([good, write("empty.gz", zlib.gzipSync(""))])).rejects.toMatchObject({ code: "FILE_EMPTY" });
    await expect(importInto([good, write("note.txt", "hello\nworld\n")])).rejects.toMatchObject({
      code: "FILE_FORMAT",
      message: expect.stringContaining("of no known format"),
    });
    await expect(importInto([good, write("note.gz", Buffer.from([0x1f, 0x8b, 1, 2, 3]))])).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
    });
    await expect(importInto(["/dev/null"])).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
    await expect(importInto([good], { format: "nonsense" })).rejects.toMatchObject({ code: "USAGE", exitStatus: 2 });
  });

  it("without permission are refused too", () => {
    const secret = write("secret.jsonl", records(1));
    fs.chmodSync(secret, 0o000);
    fs.chmodSync(scratch.folder, 0o755);
    const script = `import("${path.resolve(import.meta.dirname, "../../src/intake/input-file.ts")}").then((m) => m.openInputFile(${JSON.stringify(secret)}, m.DEFAULT_INPUT_LIMITS)).catch((e) => console.log(e.code, e.message))`;
    const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    const [program, ...args] = [...asNobody, process.execPath, "--import", "tsx", "-e", script];
    const { stdout } = spawnSync(program as string, args, { encoding: "utf8", cwd: path.resolve(import.meta.dirname, "../..") });
    expect(stdout).toContain("FILE_UNREADABLE");
    expect(stdout).toContain("permission denied");
  });

  it("in a folder are skipped and told; a folder of nothing else is refused", async () => {
    write("a.jsonl", records(2));
    write("note.txt", "hello");
    write("empty", "");
    write(".hidden", "hello");
    fs.mkdirSync(path.join(scratch.folder, "deep"));
    write("deep/b.jsonl", records(1));
    fs.symlinkSync(scratch.folder, path.join(scratch.folder, "deep/loop"));
    const { outcome } = await importInto([scratch.folder]);
    expect(outcome.files.map((f) => path.relative(scratch.folder, f.path))).toEqual(["a.jsonl", "deep/b.jsonl"]);
    expect(outcome.skipped.map((s) => path.relative(scratch.folder, s.path))).toEqual(["empty", "note.txt"]);
    await expect(importInto([path.join(FIXTURES, "aiperf/README.md")])).rejects.toMatchObject({ code: "FILE_FORMAT" });
    fs.mkdirSync(path.join(scratch.folder, "none"));
    await expect(importInto([path.join(scratch.folder, "none")])).rejects.toMatchObject({ code: "FILE_EMPTY" });
    write("none/x", "x");
    await expect(importInto([path.join(scratch.folder, "none")])).rejects.toMatchObject({ code: "FILE_FORMAT" });
  });
});

describe("lines", () => {
  it("are the same wherever the chunks are cut, with both line ends, a byte order mark and characters of several bytes", async () => {
    const text = `\ufeffä€😀\r\n\n${"x".repeat(600_000)}\nlast`;
    const file = openInputFile(write("lines", text), DEFAULT_INPUT_LIMITS);
    const lines: string[] = [];
    const ends: boolean[] = [];
    for await (const batch of readLines(file, DEFAULT_INPUT_LIMITS, () => undefined)) {
      lines.push(...batch.lines);
      ends.push(batch.unterminated);
    }
    expect(lines).toEqual(["ä€😀", "", "x".repeat(600_000), "last"]);
    expect(ends.at(-1)).toBe(true);
    expect(ends.slice(0, -1).every((end) => !end)).toBe(true);
  });
});
