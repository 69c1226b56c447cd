#!/usr/bin/env node
// Runs the checks and the tests, and closes with one line that counts the tests.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const bin = (name, file) => path.join(root, "node_modules", name, file);
const run = (label, args) => {
  process.stderr.write(`test: ${label}\n`);
  return spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status === 0;
};
const extra = process.argv.slice(2);
let failed = 0;
if (extra.length === 0) {
  const checks = [
    ["types", [bin("typescript", "bin/tsc"), "-p", "tsconfig.json", "--noEmit"]],
    ["types of the report page", [bin("typescript", "bin/tsc"), "-p", "src/report/page/tsconfig.json"]],
    ["format and lint", [bin("@biomejs/biome", "bin/biome"), "check", "."]],
    ["lint with types", [bin("eslint", "bin/eslint.js"), "."]],
    [
      "imports",
      [
        bin("dependency-cruiser", "bin/dependency-cruise.mjs"),
        "--config",
        ".dependency-cruiser.cjs",
        "schemas",
        "src",
        "collectors",
        "lab",
      ],
    ],
  ];
  for (const [label, args] of checks) if (!run(label, args)) failed++;
}
const out = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-test-")), "result.json");
const ok = run("tests", [
  bin("vitest", "vitest.mjs"),
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${out}`,
  ...extra,
]);
const result = fs.existsSync(out) ? JSON.parse(fs.readFileSync(out, "utf8")) : { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
fs.rmSync(path.dirname(out), { recursive: true, force: true });
const failedTests = result.numFailedTests + failed + (!ok && result.numFailedTests === 0 ? 1 : 0);
// What `npm run test:full` alone runs says so in its title; every other skip is a missing tool.
const missed = (result.testResults ?? [])
  .flatMap((file) => file.assertionResults)
  .filter((test) => test.status !== "passed" && test.status !== "failed" && !test.fullName.includes("WHYSLOW_FULL=1"));
if (process.env.WHYSLOW_REQUIRE_ALL === "1" && missed.length > 0) {
  process.stderr.write(`test: skipped although all are required here:\n${missed.map((test) => `  ${test.fullName}\n`).join("")}`);
  process.exitCode = 1;
}
process.stdout.write(
  `${result.numPassedTests} passed, ${failedTests} failed${result.numPendingTests ? `, ${result.numPendingTests} skipped` : ""}\n`,
);
if (failedTests > 0 || result.numPassedTests === 0) process.exitCode = 1;
