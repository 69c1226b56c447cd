#!/usr/bin/env node
// Writes docs/how-it-is-wrong.md: `node scripts/how-it-is-wrong.mjs [RUNS]`. Takes minutes; the same version gives the same bytes.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const runs = process.argv[2] ?? "300";
const cli = path.join(root, "dist/src/cli/whyslow.js");
const made = spawnSync(process.execPath, [cli, "eval", "--page", "--runs", runs], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
if (made.status !== 0) process.exit(made.status ?? 1);
fs.writeFileSync(path.join(root, "docs/how-it-is-wrong.md"), made.stdout);
