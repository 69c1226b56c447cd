import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeAtomically } from "../../src/platform/atomic-file.js";

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-file-"));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

describe("writing a file whole", () => {
  it("makes it, replaces it, and leaves nothing beside it", () => {
    const file = path.join(folder, "page.html");
    writeAtomically(file, "one");
    writeAtomically(file, new TextEncoder().encode("two"));
    expect(fs.readFileSync(file, "utf8")).toBe("two");
    expect(fs.readdirSync(folder)).toEqual(["page.html"]);
  });
  it("refuses a link and names what it points to; the target stays", () => {
    const target = path.join(folder, "target");
    const link = path.join(folder, "link");
    fs.writeFileSync(target, "kept");
    fs.symlinkSync(target, link);
    expect(() => writeAtomically(link, "x")).toThrow(
      expect.objectContaining({ code: "FILE_WRITE", mend: expect.stringContaining("target") }),
    );
    fs.symlinkSync(path.join(folder, "nowhere"), path.join(folder, "dangling"));
    expect(() => writeAtomically(path.join(folder, "dangling"), "x")).toThrow("symbolic link");
    expect(fs.readFileSync(target, "utf8")).toBe("kept");
    expect(fs.lstatSync(link).isSymbolicLink()).toBe(true);
  });
  it("says in words why it could not, and what was there stays", () => {
    expect(() => writeAtomically(folder, "x")).toThrow("is a folder");
    expect(() => writeAtomically(path.join(folder, "no", "such", "page.html"), "x")).toThrow("its folder does not exist");
    const file = path.join(folder, "page.html");
    fs.writeFileSync(file, "kept");
    expect(() => writeAtomically(path.join(file, "page.html"), "x")).toThrow(expect.objectContaining({ code: "FILE_WRITE" }));
    expect(fs.readFileSync(file, "utf8")).toBe("kept");
  });
});
