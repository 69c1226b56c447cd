import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cli } from "../run-in-process.js";

const FIXTURES = new URL("../../fixtures/lab", import.meta.url).pathname;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-eval-test-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

describe("whyslow eval", () => {
  it("prints figures of labelled runs, for people and as JSON, and leaves nothing behind", async () => {
    const before = fs.readdirSync(os.tmpdir()).filter((f) => f.startsWith("whyslow-eval-") && !f.startsWith("whyslow-eval-test-"));
    const { out, status } = await cli(["eval", path.join(FIXTURES, "compute"), path.join(FIXTURES, "quiet"), "--json"]);
    const report = JSON.parse(out);
    expect(status).toBe(0);
    expect(report).toMatchObject({ schema: "whyslow.eval/v1", failed: 0 });
    expect(report.runs).toHaveLength(2);
    expect(report.recall).toBeGreaterThan(0.9);
    const text = await cli(["eval", path.join(FIXTURES, "compute"), "--each"]);
    expect(text.out).toMatch(/lab-long_prompts-h100: found \d+ of \d+/);
    expect(text.out).toContain("| meant | compute |");
    const after = fs.readdirSync(os.tmpdir()).filter((f) => f.startsWith("whyslow-eval-") && !f.startsWith("whyslow-eval-test-"));
    expect(after.length).toBeLessThanOrEqual(before.length);
  });

  it("draws the same simulated run twice", async () => {
    const once = () => cli(["eval", "--lab", "--runs", "1", "--seed", "3", "--tier", "smi", "--physics", "second", "--json"]);
    const [a, b] = [await once(), await once()];
    expect(JSON.parse(a.out).runs).toHaveLength(1);
    expect(b.out).toBe(a.out);
  });

  it("says what is wrong with the call or with a run", async () => {
    for (const [args, said] of [
      [["eval"], /needs folders/],
      [["eval", FIXTURES, "--lab"], /one of/],
      [["eval", "--lab", "--tier", "nothing"], /--tier 'nothing'/],
      [["eval", "--lab", "--runs", "0"], /--runs '0'/],
      [["eval", "--lab", "--family", "gremlins"], /--family 'gremlins'/],
      [["eval", path.join(scratch, "absent")], /ENOENT/],
      [["eval", scratch], /no labelled run/],
    ] as const) {
      const { err, status } = await cli(args);
      expect(err).toMatch(said);
      expect(status).not.toBe(0);
    }
    const broken = path.join(scratch, "broken");
    fs.mkdirSync(broken);
    fs.writeFileSync(path.join(broken, "labels.json"), '{"name":"x","family":"y","requests":[{"request_id":1}]}');
    const bad = await cli(["eval", broken]);
    expect(bad.err).toMatch(/requests\.0\.request_id/);
    fs.writeFileSync(
      path.join(broken, "labels.json"),
      '{"name":"x","family":"y","requests":[{"request_id":"a","spike":true,"ttft":["compute"],"e2e":null}]}',
    );
    fs.writeFileSync(path.join(broken, "requests.jsonl"), "no format at all\n");
    const failed = await cli(["eval", broken, "--json"]);
    expect(failed.status).toBe(1);
    expect(JSON.parse(failed.out)).toMatchObject({ failed: 1, recall: 0 });
  });
});
