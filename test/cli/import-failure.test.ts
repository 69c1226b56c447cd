import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { FIXTURES, temporaryFolder } from "../intake/run-import.js";
import { cli } from "./run-in-process.js";

const AIPERF = path.join(FIXTURES, "aiperf/0.14/profile_export.jsonl");
const root = path.resolve(import.meta.dirname, "../..");
const START_NS = 1_788_436_076_000_000_000n;

let scratch: ReturnType<typeof temporaryFolder>;
let db: string;
beforeEach(() => {
  scratch = temporaryFolder();
  db = path.join(scratch.folder, "t.db");
});
afterEach(() => scratch.remove());

function aiperfFile(name: string, rows: number): string {
  const at = path.join(scratch.folder, name);
  const lines = Array.from(
    { length: rows },
    (_, i) =>
      `{"metadata":{"x_request_id":"r${i}","request_start_ns":${START_NS + BigInt(i) * 1_000_000n}},"metrics":{"request_latency":{"value":5,"unit":"ms"}},"error":null}`,
  );
  fs.writeFileSync(at, `${lines.join("\n")}\n`);
  return at;
}

function runs() {
  const store = openStore(db, { mode: "read" });
  try {
    return store.runs.list();
  } finally {
    store.close();
  }
}

const child = (...args: string[]) =>
  spawn(process.execPath, ["--import", "tsx", path.join(root, "src/cli/whyslow.ts"), ...args, "--db", db], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });

describe("a failed import", () => {
  it("leaves no run when nothing was stored: a bomb, a file of nothing but broken rows", async () => {
    const bomb = path.join(scratch.folder, "bomb.jsonl.gz");
    fs.writeFileSync(bomb, zlib.gzipSync(Buffer.concat([Buffer.from('{"resourceSpans":[]}\n'), Buffer.alloc(20 * 2 ** 20)]), { level: 9 }));
    expect((await cli(["import", "r", bomb, "--db", db])).status).toBe(1);
    expect(runs()).toEqual([]);
    const broken = path.join(scratch.folder, "broken.jsonl");
    fs.writeFileSync(broken, '{"metadata":{}}\nnothing\n');
    expect((await cli(["import", "r", broken, "--format", "aiperf", "--db", db])).status).toBe(1);
    expect(runs()).toEqual([]);
  });

  it("interrupted: no run, or one with the range of its rows", async () => {
    openStore(db, { mode: "write" }).close();
    const running = child("import", "r", aiperfFile("big.jsonl", 60_000));
    const exit = once(running, "exit");
    const watch = new Database(db, { readonly: true });
    const made = watch.prepare("SELECT count(*) FROM run").pluck();
    while (made.get() === 0 && running.exitCode === null) await new Promise((go) => setTimeout(go, 5));
    watch.close();
    running.kill("SIGINT");
    await exit;
    for (const run of runs()) expect([run.start_us, run.end_us]).toEqual([expect.any(Number), expect.any(Number)]);
    const rows = (
      await cli(["sql", "SELECT (SELECT count(*) FROM request) AS n, (SELECT count(*) FROM run) AS runs", "--db", db, "--json"])
    ).out;
    const [{ n, runs: stored }] = JSON.parse(rows) as [{ n: number; runs: number }];
    expect(stored).toBe(n > 0 ? 1 : 0);
  }, 30_000);
});

describe("imports at the same time", () => {
  it("into one new database both end well, each run with its range", async () => {
    const files = [aiperfFile("a.jsonl", 21_000), aiperfFile("b.jsonl", 21_000)];
    const ended = await Promise.all(
      files.map(async (file, i) => {
        const running = child("import", `r${i}`, file);
        let err = "";
        running.stderr.on("data", (chunk) => {
          err += chunk;
        });
        const [code] = (await once(running, "exit")) as [number];
        return [code, err];
      }),
    );
    expect(ended).toEqual([
      [0, ""],
      [0, ""],
    ]);
    const start_us = Number(START_NS / 1000n);
    const range = { start_us, end_us: start_us + 20_999_000 + 5000 };
    expect(runs()).toMatchObject([
      { id: "r0", ...range },
      { id: "r1", ...range },
    ]);
  }, 60_000);

  it("a writer that holds the database is waited for", async () => {
    openStore(db, { mode: "write" }).close();
    const lock = new Database(db);
    lock.exec("BEGIN IMMEDIATE");
    const running = child("import", "r", AIPERF);
    let out = "";
    running.stdout.on("data", (chunk) => {
      out += chunk;
    });
    const exit = once(running, "exit");
    // Longer than a command waited before: it would have given up by then.
    await new Promise((go) => setTimeout(go, 7500));
    expect(running.exitCode).toBeNull();
    lock.exec("COMMIT");
    lock.close();
    expect(await exit).toEqual([0, null]);
    expect(out).toContain("3 requests");
  }, 30_000);
});

describe("the summary", () => {
  it("tells new requests from those that are known already", async () => {
    const twice = path.join(scratch.folder, "twice.jsonl");
    const once = fs.readFileSync(aiperfFile("once.jsonl", 4), "utf8");
    fs.writeFileSync(twice, once + once);
    expect((await cli(["import", "r", twice, "--db", db])).out).toContain("twice.jsonl: aiperf, 4 new requests, 4 already known\n");
    expect((await cli(["import", "r", twice, "--db", db])).out).toContain("twice.jsonl: aiperf, 8 already known\n");
    const { files } = JSON.parse((await cli(["import", "other", twice, "--json", "--db", db])).out);
    expect(files[0]).toMatchObject({ requests: 8, known_requests: 4 });
  });

  it("names the run so that a shell understands it", async () => {
    const next = async (run: string): Promise<string> => (await cli(["import", run, AIPERF, "--db", db])).out.trimEnd().split("\n").at(-1)!;
    expect(await next("it's 2")).toBe("next: whyslow correlate 'it'\\''s 2'");
    expect(await next("a-1.b")).toBe("next: whyslow correlate a-1.b");
  });

  it.each([" r", "r ", "a/b", "a\nb", "a\\b"])("refuses the name %j as a wrong call", async (name) => {
    const told = await cli(["import", name, AIPERF, "--db", db]);
    expect(told).toMatchObject({ status: 2, out: "" });
    expect(told.err).toContain("[USAGE]");
    expect(fs.existsSync(db)).toBe(false);
  });
});
