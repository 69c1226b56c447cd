import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { recordRun } from "../../lab/record-run.js";
import { RECORDINGS } from "../../lab/recordings.js";

const FIXTURES = new URL("../fixtures/lab/", import.meta.url).pathname;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-record-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));
const promtool = spawnSync("promtool", ["--version"]).error === undefined;
const skipPromtool = !promtool && process.env.WHYSLOW_REQUIRE_ALL !== "1";

const read = (folder: string, name: string): string => gunzipSync(fs.readFileSync(path.join(folder, name))).toString();
interface Labels {
  readonly fault_class: string | null;
  readonly requests: readonly { readonly spike: boolean | null; readonly ttft: string[] | null; readonly e2e: string[] | null }[];
}

describe("recordings", () => {
  it.each(Object.keys(RECORDINGS))("of %s are what the committed fixture holds, and small", (name) => {
    const folder = path.join(scratch, name);
    recordRun(RECORDINGS[name]!, folder);
    const files = fs.readdirSync(folder).sort();
    expect(files).toEqual(fs.readdirSync(path.join(FIXTURES, name)).sort());
    for (const file of files) expect(read(folder, file) === read(path.join(FIXTURES, name), file), `${name}/${file}`).toBe(true);
    expect(files.reduce((sum, file) => sum + fs.statSync(path.join(folder, file)).size, 0)).toBeLessThan(150_000);
  });

  it.each(Object.keys(RECORDINGS))("of %s have slow requests of their class only, the quiet one none", (name) => {
    const labels = JSON.parse(read(path.join(FIXTURES, name), "labels.json.gz")) as Labels;
    const slow = labels.requests.filter((r) => r.spike === true);
    expect(labels.fault_class).toBe(name === "quiet" ? null : name);
    if (name === "quiet") expect(slow).toEqual([]);
    else {
      expect(slow.length).toBeGreaterThan(30);
      expect(slow.length).toBeLessThan(0.4 * labels.requests.length);
      for (const r of slow) for (const classes of [r.ttft, r.e2e]) if (classes) expect(classes).toContain(name);
    }
  });

  it.skipIf(skipPromtool)(
    "are OpenMetrics that Prometheus takes (skipped: promtool is not installed)".replace(promtool ? / \(.*\)/ : /$^/, ""),
    () => {
      for (const name of ["communication", "kv_cache"]) {
        const file = path.join(scratch, `${name}.om`);
        fs.writeFileSync(file, read(path.join(FIXTURES, name), "telemetry.om.gz"));
        const run = spawnSync("promtool", ["tsdb", "create-blocks-from", "openmetrics", file, path.join(scratch, `${name}-blocks`)]);
        expect(run.stderr.toString()).toBe("");
        expect(run.status).toBe(0);
      }
    },
  );
});
