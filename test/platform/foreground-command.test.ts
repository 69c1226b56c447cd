import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

/** A process of its own that runs a command in the foreground and prints the outcome. */
const args = (command: readonly string[], options = "{}"): string[] => [
  "--import",
  "tsx",
  "--input-type=module",
  "-e",
  `import { runForeground } from "./src/platform/foreground-command.ts";
   console.log(JSON.stringify(await runForeground(${JSON.stringify(command)}, ${options})));`,
];

test("a command has this terminal's streams, and stderr for stdout when that is wanted", () => {
  const say = [process.execPath, "-e", "console.log('said'); process.exitCode = 4"];
  const open = spawnSync(process.execPath, args(say), { cwd: root, encoding: "utf8" });
  expect(open.stdout).toBe('said\n{"exitCode":4,"signal":null,"startError":null}\n');
  const kept = spawnSync(process.execPath, args(say, "{ stdoutToStderr: true }"), { cwd: root, encoding: "utf8" });
  expect(kept.stdout).toBe('{"exitCode":4,"signal":null,"startError":null}\n');
  expect(kept.stderr).toBe("said\n");
});

test("a request to end is passed on, and its end is noted", async () => {
  const wait = [process.execPath, "-e", "console.log('ready'); setInterval(() => {}, 1000)"];
  const child = spawn(process.execPath, args(wait), { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (piece: Buffer) => {
    out += piece.toString();
    if (out === "ready\n") child.kill("SIGTERM");
  });
  await once(child, "close");
  expect(out).toBe('ready\n{"exitCode":null,"signal":"SIGTERM","startError":null}\n');
});
