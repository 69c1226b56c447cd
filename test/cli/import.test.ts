import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { FIXTURES, HAS_SHARED, SHARED, temporaryFolder } from "../intake/run-import.js";
import { cli } from "./run-in-process.js";

const FILES = ["aiperf/0.14/profile_export.jsonl", "openmetrics/mixed/telemetry.om", "guidellm/0.6/report.json"].map((f) =>
  path.join(FIXTURES, f),
);
const GOLDEN = path.resolve(import.meta.dirname, "../golden/import.json");

let scratch: ReturnType<typeof temporaryFolder>;
let db: string;
beforeEach(() => {
  scratch = temporaryFolder();
  db = path.join(scratch.folder, "t.db");
});
afterEach(() => scratch.remove());

const whyslow = (...args: string[]) => cli(args);

/** All rows of the database that an import can change. */
function stored(): unknown {
  const store = openStore(db, { mode: "read" });
  try {
    const selection = { run: "r1" };
    const { tracks, histograms, marks } = store.read.telemetry(selection);
    return structuredClone({
      run: store.runs.get("r1"),
      views: store.read.requestViews(selection),
      rejected: store.read.rejected(selection),
      tracks,
      histograms,
      marks,
    });
  } finally {
    store.close();
  }
}

describe("whyslow import", () => {
  it("makes the run, stores what the files say, and prints a summary for people", async () => {
    const { status, out, err } = await whyslow("import", "r1", ...FILES, "--db", db);
    expect(err).toBe("");
    expect(status).toBe(0);
    expect(out).toContain("profile_export.jsonl: aiperf, 3 requests\n");
    expect(out).toContain("  refused 2: syntax\n");
    expect(out).toContain("telemetry.om: openmetrics, 4 samples\n");
    expect(out.trimEnd().split("\n").at(-1)).toBe("next: whyslow correlate r1");
    const store = openStore(db, { mode: "read" });
    expect(store.runs.require("r1")).toMatchObject({ start_us: 1_768_932_686_488_669, end_us: 1_788_436_002_500_000 });
    expect(store.runs.require("r1").manifest).toMatchObject({ gpu_model: "NVIDIA H100 80GB HBM3" });
    store.close();
  });

  it("prints nothing but JSON with --json; the summary is as the golden file has it", async () => {
    const { status, out, err } = await whyslow("import", "r1", ...FILES, "--json", "--db", db);
    expect([status, err]).toEqual([0, ""]);
    const summary = JSON.parse(out.replaceAll(`${FIXTURES}/`, ""));
    if (process.env.UPDATE_GOLDEN) fs.writeFileSync(GOLDEN, `${JSON.stringify(summary, null, 2)}\n`);
    expect(summary).toEqual(JSON.parse(fs.readFileSync(GOLDEN, "utf8")));
  });

  it("twice changes nothing, also from another folder and gzipped", async () => {
    await whyslow("import", "r1", ...FILES, "--db", db);
    const once = stored();
    const packed = FILES.map((file) => {
      const at = path.join(scratch.folder, path.basename(path.dirname(file)), `${path.basename(file)}.gz`);
      fs.mkdirSync(path.dirname(at), { recursive: true });
      fs.writeFileSync(at, zlib.gzipSync(fs.readFileSync(file)));
      return at;
    });
    for (const again of [FILES, packed]) {
      expect((await whyslow("import", "r1", ...again, "--db", db)).status).toBe(0);
      expect(stored()).toEqual(once);
    }
  });

  it("keeps two runs of the same files apart", async () => {
    await whyslow("import", "r1", ...FILES, "--db", db);
    const alone = stored();
    await whyslow("import", "r2", ...FILES, "--db", db);
    expect(stored()).toEqual(alone);
  });

  it("widens the run that is there", async () => {
    await whyslow("import", "r1", FILES[0] as string, "--db", db);
    await whyslow("import", "r1", FILES[2] as string, "--db", db);
    const store = openStore(db, { mode: "read" });
    expect(store.runs.require("r1")).toMatchObject({ start_us: 1_768_932_686_488_669, end_us: 1_781_000_060_002_000 });
    store.close();
  });

  it.each([
    ["a missing file", ["r1", "/nowhere/x"], 1, "FILE_UNREADABLE"],
    ["an unknown format", ["r1", import.meta.filename], 1, "FILE_FORMAT"],
    ["an unknown --format", ["r1", FILES[0] as string, "--format", "x"], 2, "USAGE"],
    ["the wrong --format", ["r1", FILES[1] as string, "--format", "aiperf"], 1, "FILE_FORMAT"],
    ["a run without a name", ["", FILES[0] as string], 2, "USAGE"],
  ])("%s: one clear line and the right exit status", async (_name, args, status, code) => {
    const told = await whyslow("import", ...args, "--db", db);
    expect(told.status).toBe(status);
    expect(told.err.trimEnd().split("\n")).toHaveLength(1);
    expect(told.err).toContain(`[${code}]`);
    expect(told.out).toBe("");
  });

  it("without files is a wrong call", async () => {
    expect((await whyslow("import", "r1")).status).toBe(2);
  });

  it("a gzip bomb, an empty file: one clear line", async () => {
    const empty = path.join(scratch.folder, "empty");
    fs.writeFileSync(empty, "");
    expect(await whyslow("import", "r1", empty, "--db", db)).toMatchObject({ status: 1, err: expect.stringContaining("[FILE_EMPTY]") });
    const bomb = path.join(scratch.folder, "bomb.jsonl.gz");
    fs.writeFileSync(bomb, zlib.gzipSync(Buffer.concat([Buffer.from('{"resourceSpans":[]}\n'), Buffer.alloc(20 * 2 ** 20)]), { level: 9 }));
    const told = await whyslow("import", "r1", bomb, "--db", db);
    expect(told).toMatchObject({ status: 1, out: "" });
    expect(told.err).toMatch(/^whyslow: .*bomb.*\[FILE_TOO_LARGE\]\n$/);
  });

  it("warns about files of a folder that nobody knows, and goes on", async () => {
    fs.copyFileSync(FILES[0] as string, path.join(scratch.folder, "profile_export.jsonl"));
    fs.writeFileSync(path.join(scratch.folder, "inputs.json"), '{"data":[]}');
    const { status, err, out } = await whyslow("import", "r1", scratch.folder, "--db", path.join(scratch.folder, ".t.db"));
    expect(status).toBe(0);
    expect(err).toMatch(/^whyslow: skipped .*inputs\.json: of no known format\n$/);
    expect(out).toContain("3 requests");
  });

  describe.skipIf(!HAS_SHARED)("real recordings and labelled runs (shared files beside the repository)", () => {
    const runs = HAS_SHARED ? fs.readdirSync(path.join(SHARED, "lab/dev")) : [];
    it("every labelled run comes in without one refused row", async () => {
      for (const run of runs) {
        const { status, out } = await whyslow("import", run, path.join(SHARED, "lab/dev", run), "--json", "--db", db);
        expect(status).toBe(0);
        const { files, skipped } = JSON.parse(out);
        expect(files.map((f: { rejected: object }) => f.rejected)).toEqual([{}, {}]);
        expect(skipped.map((s: { path: string }) => path.basename(s.path))).toEqual(["labels.json.gz"]);
        expect(files.reduce((n: number, f: { requests: number }) => n + f.requests, 0)).toBeGreaterThan(200);
        expect(files.reduce((n: number, f: { samples: number }) => n + f.samples, 0)).toBeGreaterThan(500);
      }
      expect(runs.length).toBeGreaterThanOrEqual(20);
    });

    it("every OTLP sample is read, or refused in words", async () => {
      const otlp = path.join(SHARED, "samples/otlp");
      const { files, skipped } = JSON.parse((await whyslow("import", "r1", otlp, "--json", "--db", db)).out);
      expect(
        files.map((f: { path: string; requests: number; rejected: object }) => [path.basename(f.path), f.requests, f.rejected]),
      ).toEqual([
        ["otlp-spec-example-trace.json", 0, {}],
        ["vllm-0.11.0-export-request-2spans.json", 2, {}],
        ["vllm-0.11.0-v1-collector-file-prefill.jsonl", 197, {}],
        ["vllm-0.11.0-v1-collector-file-train-part.jsonl", 87, {}],
      ]);
      expect(skipped.map((s: { path: string }) => path.basename(s.path))).toEqual(["INDEX.tsv", "otlp-spec-example-metrics.json"]);
    });
  });
});
