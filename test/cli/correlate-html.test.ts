import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIXTURES, temporaryFolder } from "../intake/run-import.js";
import { cli } from "./run-in-process.js";

let scratch: ReturnType<typeof temporaryFolder>;
let db: string;
beforeEach(async () => {
  scratch = temporaryFolder();
  db = path.join(scratch.folder, "t.db");
  expect((await cli(["import", "quiet", path.join(FIXTURES, "lab/quiet"), "--db", db])).status).toBe(0);
});
afterEach(() => scratch.remove());

describe("correlate --html", () => {
  it("writes the page beside the other output; the same page when made again", async () => {
    const file = path.join(scratch.folder, "report.html");
    const plain = await cli(["correlate", "quiet", "--db", db, "--json"]);
    const { status, out, err } = await cli(["correlate", "quiet", "--db", db, "--json", "--html", file]);
    expect(status).toBe(0);
    expect(out).toBe(plain.out);
    expect(err).toMatch(/^page written: .*report\.html \(\d+ kB\)\n$/);
    const page = fs.readFileSync(file, "utf8");
    expect(page).toMatch(/^<!doctype html>/);
    expect((await cli(["correlate", "quiet", "--db", db, "--html", file])).out).toContain("LATENCY");
    expect(fs.readFileSync(file, "utf8")).toBe(page);
  });
  it("refuses a link in one line, before anything is printed", async () => {
    const link = path.join(scratch.folder, "report.html");
    fs.symlinkSync("/dev/null", link);
    const { status, out, err } = await cli(["correlate", "quiet", "--db", db, "--json", "--html", link]);
    expect([status, out]).toEqual([1, ""]);
    expect(err).toContain("symbolic link");
    expect(err).toContain("[FILE_WRITE]");
  });
});
