import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { FIXTURES, temporaryFolder } from "../intake/run-import.js";
import { cli } from "./run-in-process.js";

const BENCH = path.join(FIXTURES, "vllm-bench/0.11/detailed.json");
let scratch: ReturnType<typeof temporaryFolder>;
let db: string;
beforeEach(() => {
  scratch = temporaryFolder();
  db = path.join(scratch.folder, "t.db");
});
afterEach(() => scratch.remove());

const views = () => {
  const store = openStore(db, { mode: "read" });
  try {
    return store.read.requestViews({ run: "r1" });
  } finally {
    store.close();
  }
};

describe("whyslow import of files whose clock is not the wall clock", () => {
  it("says in one line what anchors them, and stores nothing at a guess", async () => {
    const { status, err } = await cli(["import", "r1", BENCH, "--db", db]);
    expect(status).toBe(1);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(err).toMatch(/holds no request.*not anchored.*--anchor TIME.*--anchor boot.*--anchor date/);
  });

  it("places them by --anchor; importing twice changes nothing", async () => {
    const args = ["import", "r1", BENCH, "--anchor", "2026-09-03 09:07:00", "--zone", "Europe/Berlin", "--db", db];
    const { out, err, status } = await cli(args);
    expect([status, out]).toEqual([0, expect.stringContaining("vllm-bench, 3 requests")]);
    expect(err).toContain("placed by --anchor");
    expect(views()[0]!.start_us).toBe(Date.UTC(2026, 8, 3, 7, 7) * 1000);
    const before = views();
    await cli(args);
    expect(views()).toEqual(before);
  });

  it("refuses a zone that there is none of, and a time that is none", async () => {
    expect(await cli(["import", "r1", BENCH, "--zone", "Mars/Olympus", "--db", db])).toMatchObject({
      status: 2,
      err: expect.stringContaining("IANA") as string,
    });
    expect((await cli(["import", "r1", BENCH, "--anchor", "whenever", "--db", db])).status).toBe(2);
  });

  it("what whyslow run exec leaves is of this machine's clock", async () => {
    const left = path.join(scratch.folder, "result.json");
    const script = `const start = Number(process.hrtime.bigint()) / 1e9;
      require("node:fs").writeFileSync(process.argv[1], JSON.stringify({ date: "20260101-000000", completed: 1, ttfts: [0.001], itls: [[]], output_lens: [1], start_times: [start] }))`;
    const nowUs = Date.now() * 1000;
    const { status } = await cli(
      ["run", "exec", "r1", "--import", left, "--db", db, "--", process.execPath, "-e", script, left],
      {},
      nowUs,
    );
    expect(status).toBe(0);
    expect(Math.abs(views()[0]!.start_us - nowUs)).toBeLessThan(60e6);
  });

  it("a load generator that could not keep up is named in the report of its run", async () => {
    const aggregate = path.join(FIXTURES, "inference-perf/0.2/stage_0_lifecycle_metrics.json");
    await cli(["import", "r1", BENCH, aggregate, "--anchor", "2026-09-03T09:07:00Z", "--db", db]);
    const { out } = await cli(["correlate", "r1", "--json", "--db", db]);
    const report = JSON.parse(out) as { data: { warnings: { code: string; text: string }[] } };
    expect(report.data.warnings.find((w) => w.code === "CLIENT_LIMITED")?.text).toContain("achieved 11.3 of 20.0 requests/s");
  });

  it("lists the formats in its help", async () => {
    expect((await cli(["import", "--help"])).out).toContain("vllm-bench             a result of vllm bench serve");
  });
});

describe("whyslow import of a folder with mixed files", () => {
  it("recognises each, says what it took from which and in what clock, and what it left", async () => {
    const run = path.join(scratch.folder, "run");
    fs.mkdirSync(path.join(run, "logs"), { recursive: true });
    const put = (fixture: string, name: string) => fs.copyFileSync(path.join(FIXTURES, fixture), path.join(run, name));
    put("vllm-bench/0.11/detailed.json", "a.json");
    put("nvidia-smi-csv/590/inferencex.csv", "gpu_metrics.csv");
    put("prometheus-json/3/query_range.json", "metrics.json");
    put("arrival-trace/azure/trace.csv", "trace.csv");
    put("mlperf-loadgen/5.1/mlperf_log_detail.txt", "logs/detail.txt");
    fs.writeFileSync(path.join(run, "logs/notes.txt"), "hello\n");
    fs.writeFileSync(path.join(run, "empty.json"), "");
    const { out, err, status } = await cli(["import", "r1", run, "--node", "n1", "--anchor", "2026-07-14T08:12:53Z", "--db", db]);
    expect(status).toBe(0);
    const told = `${out}${err}`;
    for (const line of [
      /a\.json: vllm-bench, 3 requests/,
      /gpu_metrics\.csv: nvidia-smi-csv, 2 samples/,
      /metrics\.json: prometheus-json, 4 samples/,
      /trace\.csv: arrival-trace, nothing that can be used/,
      /refused 2: no_latency/,
      /logs\/detail\.txt: mlperf-loadgen, 2 marks/,
      /a\.json: placed by --anchor/,
      /gpu_metrics\.csv: its times are local and name no zone: read in /,
      /skipped .*notes\.txt: of no known format/,
      /skipped .*empty\.json: .*is empty/,
    ])
      expect(told).toMatch(line);
  });
});
