import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../schemas/report.js";
import { cli } from "./run-in-process.js";

const FIXTURE = fileURLToPath(new URL("../fixtures/lab/kv_cache/", import.meta.url));
let dir: string;
let db: string;
let report: Report;
beforeAll(async () => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-narrow-"));
  db = path.join(dir, "t.db");
  const files = fs.readdirSync(FIXTURE).filter((f) => !f.startsWith("labels"));
  await cli(["import", "r", ...files.map((f) => path.join(FIXTURE, f)), "--db", db]);
  report = JSON.parse((await cli(["correlate", "r", "--db", db, "--json"])).out) as Report;
});
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

describe("a narrowed report says nothing of the rest", () => {
  it("keeps one slow request", async () => {
    const id = report.spikes[0]!.request_id;
    const r = await cli(["correlate", "r", "--db", db, "--request", id, "--json"]);
    expect(r.status).toBe(0);
    expect(new Set((JSON.parse(r.out) as Report).spikes.map((s) => s.request_id))).toEqual(new Set([id]));
  });
  it("tells a request that was not slow from one that is not there", async () => {
    const nobody = await cli(["correlate", "r", "--db", db, "--request", "nope"]);
    expect([nobody.status, nobody.out]).toEqual([2, ""]);
    expect(nobody.err).toContain("no request 'nope'");
    const slow = new Set(report.spikes.map((s) => s.request_id));
    const prefix = report.spikes[0]!.request_id.replace(/\d+$/, "");
    const width = report.spikes[0]!.request_id.length - prefix.length;
    const quick = Array.from({ length: report.data.requests }, (_, i) => prefix + String(i).padStart(width, "0")).find(
      (id) => !slow.has(id),
    )!;
    const r = await cli(["correlate", "r", "--db", db, "--request", quick]);
    expect([r.status, r.out]).toEqual([2, ""]);
    expect(r.err).toContain("was not slow");
  });
  it("names the servers when none fits", async () => {
    const r = await cli(["correlate", "r", "--db", db, "--server", "nowhere"]);
    expect([r.status, r.out]).toEqual([2, ""]);
    expect(r.err).toContain("'nowhere'");
  });
  it("refuses durations beyond the epoch and two formats at once", async () => {
    for (const args of [
      ["--since", "99999999d"],
      ["--around", "02:40", "--within", "99999999d"],
    ]) {
      const r = await cli(["correlate", ...args, "--db", db]);
      expect([r.status, r.err.includes("INTERNAL")]).toEqual([2, false]);
    }
    expect((await cli(["correlate", "r", "--json", "--md", "--db", db])).status).toBe(2);
  });
});

describe("what limits a whole run", () => {
  it("is not said without telemetry", async () => {
    const requests = fs.readdirSync(FIXTURE).filter((f) => f.startsWith("profile") || f.startsWith("traces"));
    await cli(["import", "bare", ...requests.map((f) => path.join(FIXTURE, f)), "--db", db]);
    const bare = JSON.parse((await cli(["correlate", "bare", "--db", db, "--json"])).out) as Report;
    expect(bare.summary.bottleneck).toMatchObject({ class: null, confidence: null });
    expect(bare.summary.bottleneck.by_class.indeterminate).toBe(1);
    for (const e of bare.episodes) expect(e.confidence ?? 0).toBeLessThanOrEqual(0.6);
    expect((await cli(["correlate", "bare", "--db", db])).out).not.toContain("limiting resource");
  });
});
