import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COLLECTORS } from "../../collectors/index.js";
import { collectorSuite } from "./collector.suite.js";

const root = new URL("../../", import.meta.url);
const there = (path: string): boolean => existsSync(new URL(path, root));

/** Cells of the row that documents a collector. */
const rows = new Map(
  readFileSync(new URL("docs/collectors.md", root), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()))
    .map((cells) => [cells[0]!.replaceAll("`", ""), cells] as const),
);

describe("the list of collectors", () => {
  it("holds every file of collectors/, each name once", () => {
    const files = readdirSync(new URL("collectors/", root))
      .filter((f) => f.endsWith(".ts") && f !== "index.ts")
      .map((f) => f.slice(0, -3));
    expect(COLLECTORS.map((c) => c.name).sort()).toEqual(files.sort());
  });

  it.each(COLLECTORS.map((c) => c.name))("%s has a test, a row of documentation and fixtures", (name) => {
    expect(there(`test/collectors/${name}.test.ts`)).toBe(true);
    const cells = rows.get(name);
    expect(cells, `docs/collectors.md has no row for ${name}`).toHaveLength(5);
    const fixtures = [...cells![4]!.matchAll(/`([^`]+)`/g)].map((m) => m[1]!);
    expect(fixtures.length).toBeGreaterThan(0);
    for (const folder of fixtures) expect(there(`test/fixtures/${folder}/`), folder).toBe(true);
  });

  it("documents nothing that is not there", () => {
    expect([...rows.keys()].sort()).toEqual(COLLECTORS.map((c) => c.name).sort());
  });
});

for (const collector of COLLECTORS) collectorSuite(collector);
