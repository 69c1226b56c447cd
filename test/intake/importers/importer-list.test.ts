import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { IMPORTERS } from "../../../src/intake/importers/index.js";
import { DEFAULT_INPUT_LIMITS, openInputFile } from "../../../src/intake/input-file.js";
import { recogniseFormat } from "../../../src/intake/recognise-format.js";
import { FIXTURES } from "../run-import.js";

const ROOT = path.resolve(import.meta.dirname, "../../..");
/** Fixtures lie in a folder of the tool's or of the importer's name. */
const FOLDERS = [...new Set(["aiperf", "guidellm", "openmetrics", "otlp", ...IMPORTERS.map((importer) => importer.name)])]
  .map((name) => path.join(FIXTURES, name))
  .filter((folder) => fs.existsSync(folder));
const fixtures = FOLDERS.flatMap((folder) =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((at) => fs.statSync(at).isFile() && path.basename(at) !== "README.md"),
);

describe("the list of importers", () => {
  it("holds every importer of the folder", () => {
    const defined = fs
      .readdirSync(path.join(ROOT, "src/intake/importers"))
      .filter((name) => /= defineImporter\(\{/.test(fs.readFileSync(path.join(ROOT, "src/intake/importers", name), "utf8")));
    expect(IMPORTERS.map((importer) => `${importer.name}.ts`).sort()).toEqual(defined.sort());
  });

  it.each(IMPORTERS.map((importer) => importer.name))(
    "%s has a test, a fixture that it alone recognises, and a row in the docs",
    async (name) => {
      expect(fs.existsSync(path.join(import.meta.dirname, `${name}.test.ts`))).toBe(true);
      const formats = await Promise.all(fixtures.map(async (at) => (await recogniseFormat(openInputFile(at, DEFAULT_INPUT_LIMITS))).name));
      expect(formats).toContain(name);
      expect(fs.readFileSync(path.join(ROOT, "docs/importers.md"), "utf8")).toContain(`| \`${name}\` |`);
    },
  );

  it("agrees on every fixture: one importer is sure, the others are not", () => {
    for (const at of fixtures) {
      const head = fs.readFileSync(at, "utf8").slice(0, 65_536);
      const sure = IMPORTERS.filter((importer) => importer.recognise(head, path.basename(at)) > 0.5);
      expect([at, sure.map((importer) => importer.name)]).toEqual([at, [expect.any(String)]]);
    }
  });
});
