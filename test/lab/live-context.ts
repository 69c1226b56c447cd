import type { LabNode } from "../../lab/lab-node.js";
import type { CollectorContext, Reading, StreamCollector } from "../../schemas/collector.js";
import { createHttpClient } from "../../src/platform/http-get.js";
import { runProgram, streamProgram } from "../../src/platform/subprocess.js";
import { createSystemClock } from "../../src/time/system-clock.js";

/** A context of the lab's node for one collector: real programs, real HTTP, real clocks. */
export function liveContext(lab: LabNode, url: string | null = null, interval_ms = 1000) {
  const clock = createSystemClock({});
  const http = createHttpClient();
  const abort = new AbortController();
  const env = { PATH: `${lab.binDir}:${process.env.PATH}` };
  const ctx: CollectorContext = {
    node: "lab",
    clock,
    signal: abort.signal,
    log: { debug: () => {}, info: () => {}, warn: () => {} },
    roots: { proc: lab.procRoot, sys: lab.sysRoot },
    interval_ms,
    timeout_ms: 10_000,
    url,
    servers: [{ name: "llm", url: lab.serverUrl, metrics_path: "/metrics", engine: "vllm", pids: [] }],
    run: (program, args, options) => runProgram(program, args, { timeoutMs: options?.timeout_ms ?? 10_000, env, signal: abort.signal }),
    stream: (program, args) => streamProgram(program, args, { wallUs: () => clock.wallUs(), env, signal: abort.signal }),
    http: (at, options) =>
      http.get(at, {
        timeoutMs: options?.timeout_ms ?? 10_000,
        maxBytes: options?.max_bytes ?? 8e6,
        accept: "text/plain",
        wallUs: () => clock.wallUs(),
      }),
  };
  return {
    ctx,
    close: (): void => {
      abort.abort();
      http.close();
    },
  };
}

/** Readings of a stream collector until `enough` says so. */
export async function readUntil(
  collector: StreamCollector,
  live: ReturnType<typeof liveContext>,
  enough: (all: Reading[]) => boolean,
): Promise<Reading[]> {
  const all: Reading[] = [];
  await Promise.race([
    collector.stream(live.ctx, (reading) => {
      all.push(reading);
      if (enough(all)) live.close();
    }),
    new Promise((_, reject) => setTimeout(() => reject(new Error(`only ${all.length} readings`)), 30_000).unref()),
  ]);
  return all;
}
