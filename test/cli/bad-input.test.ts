import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli } from "./run-in-process.js";

let dir: string;
let db: string;
beforeAll(async () => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-bad-"));
  db = path.join(dir, "t.db");
  const good = {
    metadata: {
      x_request_id: "a",
      request_start_ns: 1788436076903676000,
      request_end_ns: 1788436077903676000,
      benchmark_phase: "profiling",
      was_cancelled: false,
    },
    metrics: { time_to_first_token: { value: 20, unit: "ms" }, request_latency: { value: 1000, unit: "ms" } },
    error: null,
  };
  fs.writeFileSync(path.join(dir, "good.jsonl"), `${JSON.stringify(good)}\n`);
  await cli(["import", "r1", path.join(dir, "good.jsonl"), "--db", db]);
});
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

const file = (name: string, content: string | Buffer): string => {
  const full = path.join(dir, name);
  fs.writeFileSync(full, content);
  return full;
};
const oneLine = (err: string): void => {
  const lines = err
    .trimEnd()
    .split("\n")
    .filter((l) => l.startsWith("whyslow:"));
  expect(lines).toHaveLength(1);
  expect(err).not.toMatch(/\n\s+at /);
};

describe("bad input gets one clear line and the right exit status", () => {
  it("an unknown run", async () => {
    const r = await cli(["correlate", "nosuch", "--db", db]);
    expect(r.status).toBe(1);
    expect(r.err).toContain("no run 'nosuch'");
    expect(r.err).toContain("known runs: r1");
    expect(r.out).toBe("");
    oneLine(r.err);
  });
  it("a database that is not there", async () => {
    const r = await cli(["correlate", "r1", "--db", path.join(dir, "absent.db")]);
    expect(r.status).toBe(1);
    expect(r.err).toContain("absent.db");
    expect(fs.existsSync(path.join(dir, "absent.db"))).toBe(false);
    oneLine(r.err);
  });
  it("a file that is no database", async () => {
    const r = await cli(["correlate", "r1", "--db", file("not.db", "hello, this is plain text and no database at all\n".repeat(50))]);
    expect(r.status).toBe(1);
    oneLine(r.err);
  });
  it("an empty file", async () => {
    const r = await cli(["import", "r2", file("empty.jsonl", ""), "--db", db]);
    expect(r.status).toBe(1);
    expect(r.err).toMatch(/empty\.jsonl.*empty/);
    oneLine(r.err);
  });
  it("a file that is not there", async () => {
    const r = await cli(["import", "r2", path.join(dir, "gone.jsonl"), "--db", db]);
    expect(r.status).toBe(1);
    expect(r.err).toContain("gone.jsonl");
    oneLine(r.err);
  });
  it("a format that nobody knows", async () => {
    const r = await cli(["import", "r2", file("poem.txt", "roses are red\nviolets are blue\n"), "--db", db]);
    expect(r.status).toBe(1);
    expect(r.err).toContain("poem.txt");
    oneLine(r.err);
  });
  it("a gzip bomb", async () => {
    const zeros = gzipSync(Buffer.alloc(300 * 1024 * 1024), { level: 9 });
    const before = process.memoryUsage().rss;
    const r = await cli(["import", "r2", file("bomb.jsonl.gz", zeros), "--db", db]);
    expect(r.status).toBe(1);
    expect(r.err).toContain("bomb.jsonl.gz");
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
    oneLine(r.err);
  });
  it.skipIf(process.getuid?.() !== 0)("an unreadable file, as an ordinary user (needs root to become one)", () => {
    fs.chmodSync(dir, 0o755);
    const secret = file("secret.jsonl", "{}\n");
    fs.chmodSync(secret, 0o000);
    const home = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-nobody-"));
    fs.chmodSync(home, 0o777);
    const bin = path.resolve("dist/src/cli/whyslow.js");
    const r = spawnSync(
      "setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, bin, "import", "r3", secret, "--db", path.join(home, "t.db")],
      { encoding: "utf8" },
    );
    fs.rmSync(home, { recursive: true, force: true });
    expect(r.status).toBe(1);
    expect(r.stderr).toContain("secret.jsonl");
    oneLine(r.stderr);
  });
  it("a wrong call", async () => {
    for (const args of [
      ["correlate", "--db", db],
      ["correlate", "r1", "--since", "30m", "--db", db],
      ["correlate", "r1", "--slo", "speed=9", "--db", db],
      ["correlate", "r1", "--fail-on", "magic", "--db", db],
      ["correlate", "--since", "soon", "--db", db],
      ["correlate", "--from", "2026-09-03T10:00:00Z", "--to", "2026-09-03T09:00:00Z", "--db", db],
    ]) {
      const r = await cli(args);
      expect([args.join(" "), r.status]).toEqual([args.join(" "), 2]);
      expect(r.out).toBe("");
      oneLine(r.err);
    }
    expect((await cli(["corelate"])).status).toBe(2);
    expect((await cli(["correlate", "r1", "--jsn", "--db", db])).err).toContain("--json");
  });
  it("a decision table that is none", async () => {
    const r = await cli(["correlate", "r1", "--db", db, "--table", file("table.json", '{"schema":"whyslow.table/v1"}')]);
    expect(r.status).toBe(2);
    oneLine(r.err);
    expect((await cli(["correlate", "r1", "--db", db, "--table", file("table2.json", "{")])).status).toBe(2);
  });
  it("a corrupt configuration, with line and column", async () => {
    const r = await cli(["agent", "--config", file("bad.yaml", "listen:\n  http: 127.0.0.1:0\n  htttp: 1\n")]);
    expect(r.status).toBe(2);
    expect(r.err).toMatch(/bad\.yaml:3:\d+/);
    oneLine(r.err);
  });
});
