#!/usr/bin/env node
// Makes a clone ready: installs the locked dependencies when they are missing, stale or built for another Node, then builds
// what changed. Safe to start twice at once (a lock folder holds the pid of the one at work).
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const root = path.resolve(import.meta.dirname, "..");
const lockDir = path.join(root, ".ready.lock");
const at = (...parts) => path.join(root, ...parts);
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) fail(`Node ${process.versions.node} is too old: whyslow needs Node 20.19 or newer`);

function fail(text) {
  process.stderr.write(`ready: ${text}\n`);
  process.exit(1);
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function takeLock() {
  const deadline = Date.now() + 15 * 60_000;
  for (;;) {
    try {
      fs.mkdirSync(lockDir);
      fs.writeFileSync(path.join(lockDir, "pid"), String(process.pid));
      process.on("exit", () => fs.rmSync(lockDir, { recursive: true, force: true }));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const age = Date.now() - (fs.statSync(lockDir, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    const pid = Number(fs.existsSync(path.join(lockDir, "pid")) ? fs.readFileSync(path.join(lockDir, "pid"), "utf8") : 0);
    if (age > 2000 && (!pid || !alive(pid))) fs.rmSync(lockDir, { recursive: true, force: true });
    else if (Date.now() > deadline) fail(`another ready (pid ${pid}) does not finish; remove ${lockDir} if it is gone`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  }
}

/** npm writes what it installed beside the packages: the same entries as the lock file, less the root. */
function installedMatchesLock() {
  const hidden = at("node_modules", ".package-lock.json");
  if (!fs.existsSync(hidden)) return false;
  const wanted = JSON.parse(fs.readFileSync(at("package-lock.json"), "utf8")).packages;
  const have = JSON.parse(fs.readFileSync(hidden, "utf8")).packages;
  for (const [name, entry] of Object.entries(wanted)) {
    if (name === "" || entry.link) continue;
    const got = have[name];
    if (!got) {
      if (entry.optional || entry.peer || entry.devOptional) continue;
      return false;
    }
    if (got.version !== entry.version || got.integrity !== entry.integrity) return false;
  }
  return true;
}

/** Loads the native module in a child: a wrong ABI must not end this process. */
function nativeFits() {
  const probe = `const D = (await import(${JSON.stringify(pathToFileURL(at("node_modules", "better-sqlite3", "lib", "index.js")).href)})).default; new D(":memory:").close();`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", probe], { stdio: "ignore" }).status === 0;
}

function npm(args, why) {
  process.stderr.write(`ready: ${why}: npm ${args.join(" ")}\n`);
  const env = { ...process.env };
  const ccache = "/usr/lib/ccache";
  if (fs.existsSync(ccache)) Object.assign(env, { CCACHE_BASEDIR: root, CCACHE_NOHASHDIR: "1", PATH: `${ccache}:${env.PATH}` });
  const command = process.env.npm_execpath?.endsWith(".js") ? [process.execPath, [process.env.npm_execpath, ...args]] : ["npm", args];
  const result = spawnSync(command[0], command[1], { cwd: root, env, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) fail(`npm ${args[0]} failed (status ${result.status ?? result.signal}); see the lines above`);
}

takeLock();
if (!installedMatchesLock()) npm(["ci", "--include=dev", "--no-audit", "--no-fund"], "dependencies are missing or stale");
if (!nativeFits()) npm(["rebuild", "better-sqlite3"], `the native module does not fit Node ${process.versions.node}`);
if (!nativeFits()) fail("better-sqlite3 does not load; are python3, make and a C++ compiler installed?");
const { buildIfStale } = await import("./build.mjs");
if (!buildIfStale()) fail("the build failed");
