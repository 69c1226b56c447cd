import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { CollectorContext, Reading, ServerTarget } from "../../schemas/collector.js";
import { columnSpec } from "../../schemas/columns/index.js";

export const PROC_TREES = new URL("../fixtures/proc-tree/", import.meta.url).pathname;

const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A copy of a fixture tree that a test may change. */
export const copyTree = (name: "v1" | "v2" | "hybrid"): { proc: string; sys: string } => {
  const folder = mkdtempSync(join(tmpdir(), "whyslow-proc-"));
  made.push(folder);
  chmodSync(folder, 0o755);
  cpSync(join(PROC_TREES, name), folder, { recursive: true });
  return { proc: join(folder, "proc"), sys: join(folder, "sys") };
};

export const fixedTree = (name: "v1" | "v2" | "hybrid"): { proc: string; sys: string } => ({
  proc: join(PROC_TREES, name, "proc"),
  sys: join(PROC_TREES, name, "sys"),
});

/** Runs with the rights of nobody, because root reads everything. */
export const asNobody = async <T>(run: () => Promise<T>): Promise<T> => {
  if (process.geteuid?.() !== 0) return run();
  process.seteuid?.(65_534);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
};

export const REAL_ROOTS = { proc: "/proc", sys: "/sys" };

/** A context whose clocks the test moves; programs and HTTP are not for these collectors. */
export const procContext = (roots: { proc: string; sys: string }, servers: readonly ServerTarget[] = []) => {
  const time = { wall: 1_800_000_000_000_000, mono: 1_000_000 };
  const refuse = (): never => {
    throw new Error("not for this collector");
  };
  const ctx: CollectorContext = {
    node: "node-a",
    clock: { wallUs: () => time.wall, monoUs: () => time.mono, epoch: () => 3 },
    signal: new AbortController().signal,
    log: { debug: () => {}, info: () => {}, warn: () => {} },
    roots,
    interval_ms: 1000,
    timeout_ms: 1000,
    url: null,
    servers,
    run: refuse,
    stream: refuse,
    http: refuse,
  };
  return {
    ctx,
    advance: (seconds: number): void => {
      time.wall += seconds * 1e6;
      time.mono += seconds * 1e6;
    },
  };
};

export const target = (over: Partial<ServerTarget> = {}): ServerTarget => ({
  name: "chat",
  url: "http://127.0.0.1:8100",
  metrics_path: "/metrics",
  engine: "vllm",
  pids: [],
  ...over,
});

/** Every sample is what the contract allows: known columns, finite values within their limits, the context's epoch and node. */
export const expectCanonical = (reading: Reading): void => {
  for (const { entity, values, epoch, ts_us } of reading.samples) {
    expect(entity.node).toBe("node-a");
    expect(epoch).toBe(3);
    expect(Number.isSafeInteger(ts_us)).toBe(true);
    for (const [name, value] of Object.entries(values)) {
      const spec = columnSpec(entity.kind, name);
      expect(spec, `${entity.kind}.${name}`).toBeDefined();
      expect(Number.isFinite(value)).toBe(true);
      expect(value).toBeGreaterThanOrEqual(spec?.min ?? Number.NEGATIVE_INFINITY);
      expect(value).toBeLessThanOrEqual(spec?.max ?? Number.POSITIVE_INFINITY);
    }
  }
};
