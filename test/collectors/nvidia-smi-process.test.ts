import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nvidiaSmiQuery } from "../../collectors/nvidia-smi-query.js";
import type { CollectorContext, Reading } from "../../schemas/collector.js";
import { runProgram, streamProgram } from "../../src/platform/subprocess.js";
import { NODE } from "./nvidia-smi-context.js";

// A real child behind a real pipe: `tr` writes in blocks of 4 KiB when it writes into a pipe, unless stdbuf tells it otherwise.
const SCRIPT = `#!/bin/bash
case "$1" in
  --help-query-gpu) printf '"timestamp"\\n"uuid" or "gpu_uuid"\\n"utilization.gpu"\\n"name" or "gpu_name"\\n"pstate"\\n'; exit 0 ;;
esac
long=$(printf '%0250d' 0)
{
  echo "timestamp, uuid, name, utilization.gpu [%], pstate"
  while :; do
    now=$EPOCHREALTIME
    milli=\${now#*.}
    printf '%(%Y/%m/%d %H:%M:%S)T.%s, GPU-1, %s, 42, P0\\n' "\${now%.*}" "\${milli:0:3}" "$long"
    sleep 0.1
  done
} | tr a a
`;

let folder = "";
const path = process.env["PATH"];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nvidia-smi-"));
  writeFileSync(join(folder, "nvidia-smi"), SCRIPT);
  chmodSync(join(folder, "nvidia-smi"), 0o755);
  process.env["PATH"] = `${folder}:${path}`;
});

afterEach(() => {
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true, force: true });
});

test("a block-buffered child: its rows are spread, then it runs under stdbuf and rows come one by one", async () => {
  const abort = new AbortController();
  const wallUs = (): number => Date.now() * 1000;
  const programs: string[] = [];
  const ctx: CollectorContext = {
    node: NODE,
    clock: { wallUs, monoUs: () => performance.now() * 1000, epoch: () => 0 },
    signal: abort.signal,
    log: { debug() {}, info() {}, warn() {} },
    roots: { proc: "/proc", sys: "/sys" },
    interval_ms: 100,
    timeout_ms: 10_000,
    url: null,
    servers: [],
    run: (program, args) => runProgram(program, args, { timeoutMs: 10_000, signal: abort.signal }),
    stream(program, args) {
      programs.push(program);
      return streamProgram(program, args, { wallUs, signal: abort.signal });
    },
    http: () => Promise.reject(new Error("no HTTP here")),
  };
  const buffered: Reading[] = [];
  const prompt: Reading[] = [];
  await nvidiaSmiQuery.stream(ctx, (reading) => {
    (programs.length === 1 ? buffered : prompt).push(reading);
    if (prompt.length >= 5) abort.abort();
  });
  expect(programs).toEqual(["nvidia-smi", "stdbuf"]);
  const times = buffered.flatMap((r) => r.samples.map((s) => s.ts_us));
  expect(times.length).toBeGreaterThanOrEqual(7);
  // The rows of one block came at one instant; the child slept at least 0.1 s between any two of them.
  for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(98_000);
  expect(prompt.flatMap((r) => r.samples).every((s) => s.values["gpu_util_ratio"] === 0.42)).toBe(true);
});
