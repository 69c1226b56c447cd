import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parseIso } from "../../src/time/iso-time.js";
import { entity, open, request, SECOND, sample, source, T0, temporaryFile } from "../store/store-fixtures.js";
import { cli } from "./run-in-process.js";

const node = process.execPath;

describe("run start, stop, list, show", () => {
  test("mark a run and tell of it", async () => {
    const db = temporaryFile();
    const started = await cli(["run", "start", "r1", "--db", db, "--json"], {}, T0);
    const start = (JSON.parse(started.out) as { start: string }).start;
    expect(parseIso(start)).toBe(T0);
    expect(await cli(["run", "list", "--db", db])).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^RUN +START +LENGTH +MODEL\nr1 +\S+Z +open\n$/),
    });
    expect(await cli(["run", "start", "r1", "--db", db])).toMatchObject({ status: 2, err: expect.stringContaining("has started already") });
    expect(await cli(["run", "stop", "r1", "--db", db], {}, T0 + SECOND)).toMatchObject({
      status: 0,
      out: expect.stringContaining("next: whyslow correlate r1"),
    });
    expect(await cli(["run", "stop", "r1", "--db", db])).toMatchObject({
      status: 2,
      out: "",
      err: expect.stringContaining("has ended already"),
    });
    const [listed] = JSON.parse((await cli(["run", "list", "--db", db, "--json"])).out) as { id: string; start: string; end: string }[];
    expect(listed).toMatchObject({ id: "r1", start, manifest: {} });
    expect(parseIso(listed!.end)).toBe(T0 + SECOND);
  });

  test("show what is stored of a run", async () => {
    const db = temporaryFile();
    const store = open(db);
    store.sink.samples(source("dcgm", "r"), [
      sample(entity("gpu", "GPU-1"), T0, { power_w: 1 }),
      sample(entity("gpu", "GPU-1"), T0 + 1, { power_w: 1 }),
    ]);
    store.sink.requests(source("aiperf", "r"), [request("a", T0, { view: "client" }), request("b", T0), request("c", T0)]);
    store.sink.rejected(source("dcgm", "r"), "sentinel", 4);
    store.sink.manifest("r", { model: "m" });
    store.sink.flush();
    store.runs.extend("r", T0, T0 + 61 * SECOND);
    store.close();
    const { out } = await cli(["run", "show", "r", "--db", db]);
    expect(out.split("\n").slice(0, 3)).toEqual([
      "run r: 2026-01-01T00:00:00.000000Z to 2026-01-01T00:01:01.000000Z, 1 min 1 s",
      "  model: m",
      "requests: 1 seen by clients, 2 by servers; marks: 0",
    ]);
    expect(out).toMatch(/gpu +n1 +GPU-1 +dcgm +2\n/);
    expect(out).toContain("refused: 4 of dcgm on n1: sentinel");
    expect(JSON.parse((await cli(["run", "show", "r", "--db", db, "--json"])).out)).toMatchObject({
      id: "r",
      requests: { client: 1, server: 2 },
      tracks: [{ source: "dcgm", imported: true, kind: "gpu", samples: 2 }],
    });
  });

  test("name the nearest runs for one that is not there, and make no database to look into", async () => {
    const db = temporaryFile();
    expect(await cli(["run", "list", "--db", db])).toMatchObject({ status: 1, err: expect.stringContaining("no database at") });
    expect(fs.existsSync(db)).toBe(false);
    await cli(["run", "start", "night-1", "--db", db]);
    for (const args of [
      ["show", "nigth-1"],
      ["stop", "nigth-1"],
    ]) {
      const answer = await cli(["run", ...args, "--db", db]);
      expect(answer.status).toBe(1);
      expect(answer.err).toMatch(/^whyslow: there is no run "nigth-1" .*did you mean `night-1`\? \[RUN_UNKNOWN\]\n$/);
    }
  });
});

describe("run exec", () => {
  test("marks the run around a command, whatever way it ends", async () => {
    const db = temporaryFile();
    const good = await cli(["run", "exec", "good", "--db", db, "--", node, "-e", "setTimeout(() => {}, 20)"]);
    expect(good).toMatchObject({ status: 0, out: expect.stringContaining("next: whyslow correlate good") });
    const bad = await cli(["run", "exec", "bad", "--db", db, "--", node, "-e", "process.exit(7)"]);
    expect(bad).toMatchObject({ status: 1, err: expect.stringContaining("ended with status 7") });
    const killed = await cli(["run", "exec", "killed", "--db", db, "--", node, "-e", "process.kill(process.pid, 'SIGKILL')"]);
    expect(killed).toMatchObject({ status: 1, err: expect.stringContaining("was ended by SIGKILL") });
    const none = await cli(["run", "exec", "none", "--db", db, "--", "no-such-program-here"]);
    expect(none).toMatchObject({ status: 1, err: expect.stringContaining("cannot be started: no such program") });
    const runs = open(db).runs.list();
    expect(runs.map((r) => r.id).sort()).toEqual(["bad", "good", "killed", "none"]);
    for (const run of runs) expect(run.end_us).toBeGreaterThanOrEqual(run.start_us!);
    expect(await cli(["run", "exec", "good", "--db", db, "--", node, "-e", "0"])).toMatchObject({ status: 2 });
  });

  test("imports what the command left", async () => {
    const db = temporaryFile();
    const left = path.join(path.dirname(db), "profile_export.jsonl");
    const record = {
      metadata: {
        x_request_id: "a",
        request_start_ns: 1788436076903676000,
        request_end_ns: 1788436077903676000,
        benchmark_phase: "profiling",
      },
      metrics: { time_to_first_token: { value: 20, unit: "ms" }, request_latency: { value: 1000, unit: "ms" } },
      error: null,
    };
    const script = `require("node:fs").writeFileSync(process.argv[1], ${JSON.stringify(`${JSON.stringify(record)}\n`)})`;
    const done = await cli(["run", "exec", "r", "--json", "--db", db, "--import", left, "--", node, "-e", script, left], {}, T0);
    expect(JSON.parse(done.out)).toMatchObject({ id: "r", exit_code: 0, signal: null, imported: 1 });
    expect(done.status).toBe(0);
    const store = open(db);
    expect(store.read.requestViews({ run: "r" }).map((v) => v.request_id)).toEqual(["a"]);
    expect(store.read.range({ run: "r" })).toEqual({ start_us: T0, end_us: T0 });
  });
});
