import { describe, expect, it } from "vitest";
import type { ServerProcess } from "../../collectors/parts/find-server-processes.js";
import { nameServers } from "../../collectors/parts/server-labels.js";
import { target } from "./proc-context.js";

const front = (pid: number, port: number, over: Partial<ServerProcess> = {}): ServerProcess => ({
  pid,
  start_ticks: 1,
  lineage: [pid, 1],
  root_pid: pid,
  engine: "vllm",
  role: "api_server",
  name: "vllm",
  port,
  model: null,
  ...over,
});
const child = (pid: number, of: ServerProcess): ServerProcess =>
  front(pid, 0, { port: null, role: "engine", lineage: [pid, ...of.lineage], root_pid: of.root_pid });

describe("which server a process belongs to", () => {
  const [a, b] = [front(10, 8000), front(20, 8001)];
  const all = [a, child(11, a), b, child(21, b)];
  const names = (...args: Parameters<typeof nameServers>) => [...nameServers(...args)].map(([pid, t]) => [pid, t.name]);

  it("goes by pid, ancestors included", () => {
    const targets = [target({ name: "a", pids: [10], url: "http://x:1" }), target({ name: "b", pids: [20], url: "http://y:2" })];
    expect(names(all, targets, "node-a")).toEqual([
      [10, "a"],
      [11, "a"],
      [20, "b"],
      [21, "b"],
    ]);
  });

  it("goes by port on this machine only, and by engine", () => {
    const targets = [target({ name: "b", url: "http://localhost:8001" }), target({ name: "far", url: "http://other-node:8000" })];
    expect(names(all, targets, "node-a")).toEqual([
      [20, "b"],
      [21, "b"],
    ]);
    expect(names(all, [target({ url: "http://node-a:8000", engine: "sglang" }), target({ url: "nonsense" })], "node-a")).toEqual([]);
  });

  it("pairs the only server with the only target, and never guesses between two", () => {
    expect(names([a, child(11, a)], [target({ name: "s", url: "http://10.0.0.7" })], "node-a")).toEqual([
      [10, "s"],
      [11, "s"],
    ]);
    expect(names([a], [target({ name: "s", url: "http://10.0.0.7", engine: "sglang" })], "node-a")).toEqual([]);
    expect(names(all, [target({ name: "s", url: "http://10.0.0.7" })], "node-a")).toEqual([]);
  });
});
