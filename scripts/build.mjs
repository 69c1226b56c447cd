#!/usr/bin/env node
// Builds dist/ with tsc, bundles the report page and copies the files that are data. Called directly it always builds; ready.mjs builds when something changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { bundlePage } from "./bundle-page.mjs";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");
const stampFile = path.join(dist, ".stamp");
const SOURCES = ["schemas", "src", "collectors", "lab", "bench"];
/** Of the report page only the bundle is published. */
const PAGE = path.join(root, "src", "report", "page") + path.sep;
const DATA = /\.(sql|proto|json|css|html)$/;

function* files(dir) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* files(full);
    else yield full;
  }
}

function stamp() {
  const hash = createHash("sha256");
  const all = [
    ...SOURCES.map((d) => path.join(root, d))
      .filter((d) => fs.existsSync(d))
      .flatMap((d) => [...files(d)]),
    path.join(root, "tsconfig.json"),
    path.join(root, "tsconfig.build.json"),
    path.join(root, "scripts", "bundle-page.mjs"),
    path.join(root, "package-lock.json"),
  ];
  for (const file of all.sort()) hash.update(path.relative(root, file)).update("\0").update(fs.readFileSync(file)).update("\0");
  return hash.digest("hex");
}

export function build() {
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const result = spawnSync(process.execPath, [tsc, "-p", path.join(root, "tsconfig.build.json")], { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) return false;
  bundlePage();
  for (const file of SOURCES.map((d) => path.join(root, d))
    .filter((d) => fs.existsSync(d))
    .flatMap((d) => [...files(d)])) {
    if (!DATA.test(file) || file.startsWith(PAGE)) continue;
    const to = path.join(dist, path.relative(root, file));
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.copyFileSync(file, to);
  }
  for (const bin of Object.values(JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")).bin)) {
    const file = path.join(root, bin);
    if (fs.existsSync(file)) fs.chmodSync(file, 0o755);
  }
  fs.writeFileSync(stampFile, stamp());
  return true;
}

export function buildIfStale() {
  if (fs.existsSync(stampFile) && fs.readFileSync(stampFile, "utf8") === stamp()) return true;
  process.stderr.write("ready: building\n");
  return build();
}

if (process.argv[1] === import.meta.filename) process.exit(build() ? 0 : 1);
