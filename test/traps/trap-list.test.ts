import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** How many traps each page of facts about formats has. */
const PAGES = { "gpu-telemetry": 35, "servers-and-traces": 41, aiperf: 8 } as const;
/** Exports of Nsight Systems are not read yet, so nothing can fall into their trap. */
const NOT_READ: readonly string[] = ["servers-and-traces 36"];
const TESTS = path.resolve(import.meta.dirname, "..");
const TITLE = /\b(?:it|test)\(\s*["'`]trap (gpu-telemetry|servers-and-traces|aiperf) (\d+): /g;

const found = new Map<string, string[]>();
for (const name of fs.readdirSync(TESTS, { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".test.ts")) continue;
  for (const m of fs.readFileSync(path.join(TESTS, name), "utf8").matchAll(TITLE)) {
    const trap = `${m[1]} ${Number(m[2])}`;
    found.set(trap, [...(found.get(trap) ?? []), name]);
  }
}

describe("every trap of the formats", () => {
  it.each(Object.entries(PAGES))("%s: each of its %i traps has a test of its name", (page, traps) => {
    const missing = Array.from({ length: traps }, (_, i) => `${page} ${i + 1}`).filter((trap) => !found.has(trap));
    expect(missing).toEqual(NOT_READ.filter((trap) => trap.startsWith(page)));
  });

  it("and no test is named after a trap that there is none of", () => {
    const known = new Set(Object.entries(PAGES).flatMap(([page, traps]) => Array.from({ length: traps }, (_, i) => `${page} ${i + 1}`)));
    expect([...found.keys()].filter((trap) => !known.has(trap))).toEqual([]);
  });
});
