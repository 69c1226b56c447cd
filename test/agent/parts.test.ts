import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import type net from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { lockDatabase } from "../../src/agent/database-lock.js";
import { portOwner } from "../../src/agent/port-owner.js";
import { readRange } from "../../src/agent/report-route.js";
import { createServerDiscovery, recogniseEngine } from "../../src/agent/server-discovery.js";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0)) step();
});

describe("lockDatabase", () => {
  const database = (): string => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-lock-"));
    undo.push(() => fs.rmSync(dir, { recursive: true, force: true }));
    return path.join(dir, "sub", "whyslow.db");
  };

  it("is had by one at a time", () => {
    const file = database();
    const lock = lockDatabase(file);
    expect(lock.abandonedBy).toBe(null);
    expect(() => lockDatabase(file)).toThrow(`another agent (process ${process.pid}) writes to ${file}`);
    lock.release();
    lockDatabase(file).release();
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  });

  it("is taken over from a process that is gone, and from another that got the same pid", () => {
    const gone = spawnSync("true").pid;
    for (const owner of [
      { pid: gone, startTicks: "12" },
      { pid: process.pid, startTicks: "1" },
    ]) {
      const file = database();
      fs.mkdirSync(path.dirname(file));
      fs.writeFileSync(`${file}.agent`, JSON.stringify(owner));
      const lock = lockDatabase(file);
      expect(lock.abandonedBy).toEqual({ pid: owner.pid });
      lock.release();
    }
  });

  it("is taken over when its file holds nonsense", () => {
    const file = database();
    fs.mkdirSync(path.dirname(file));
    fs.writeFileSync(`${file}.agent`, "{");
    const lock = lockDatabase(file);
    expect(lock.abandonedBy).toBe(null);
    lock.release();
  });
});

describe("portOwner", () => {
  it("names who listens, and nobody for a free port", async () => {
    const server = http.createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as net.AddressInfo;
    expect(portOwner(port)).toContain(`(pid ${process.pid})`);
    await new Promise((resolve) => void server.close(resolve));
    expect(portOwner(port)).toBe(null);
  });
});

describe("recogniseEngine", () => {
  it.each([
    ["# TYPE vllm:num_requests_running gauge\n", "vllm"],
    ['python_info 1\nray_vllm_num_requests_running{m="a"} 0\n', "vllm"],
    ["sglang:num_running_reqs 0\n", "sglang"],
    ["# HELP x y\ntgi_queue_size 0\n", "tgi"],
    ["nv_inference_count 3\nvllm:num_requests_running 0\n", "vllm"],
    ["nv_inference_count 3\n", "triton"],
    ["dynamo_frontend_queued_requests 0\n", "dynamo"],
    ["llamacpp:requests_processing 0\n", "llamacpp"],
    ["go_goroutines 8\n# HELP a about vllm: nothing\n", null],
    ["<html>vllm</html>", null],
    ['[{"iter":1}]', null],
    ["", null],
  ])("%j is %s", (page, engine) => {
    expect(recogniseEngine(page)).toBe(engine);
  });
});

describe("createServerDiscovery", () => {
  it("finds servers at usual ports and at those of processes, once, and asks strangers rarely", async () => {
    let now = 0;
    const asked: string[] = [];
    const pages: Record<string, { status: number; body: string }> = {
      "http://127.0.0.1:8000/metrics": { status: 200, body: "vllm:num_requests_running 0\n" },
      "http://127.0.0.1:3000/metrics": { status: 200, body: "grafana_up 1\n" },
      "http://127.0.0.1:9999/metrics": { status: 200, body: "sglang:num_running_reqs 0\n" },
    };
    const discovery = createServerDiscovery({
      ports: [8000, 3000, 8080],
      nowMs: () => now,
      processes: async () => [
        { pid: 77, port: 9999 },
        { pid: 78, port: null },
      ],
      async get(url) {
        asked.push(url);
        const page = pages[url];
        if (!page) throw new Error("refused");
        return { ...page, truncated: false, start_us: 0, end_us: 0, duration_ms: 1 };
      },
    });
    expect(await discovery.look()).toBe(true);
    expect(discovery.servers).toEqual([
      { name: "vllm-8000", url: "http://127.0.0.1:8000", metrics_path: "/metrics", engine: "vllm", pids: [] },
      { name: "sglang-9999", url: "http://127.0.0.1:9999", metrics_path: "/metrics", engine: "sglang", pids: [77] },
    ]);
    asked.length = 0;
    pages["http://127.0.0.1:8080/metrics"] = { status: 200, body: "tgi_queue_size 0\n" };
    pages["http://127.0.0.1:3000/metrics"] = { status: 200, body: "tgi_queue_size 0\n" };
    now = 30_000;
    expect(await discovery.look()).toBe(true);
    expect(asked).toEqual(["http://127.0.0.1:8080/metrics"]);
    now = 600_000;
    expect(await discovery.look()).toBe(true);
    expect(await discovery.look()).toBe(false);
    expect(discovery.servers.map((s) => s.name)).toEqual(["vllm-8000", "sglang-9999", "tgi-8080", "tgi-3000"]);
  });

  it("goes on without the list of processes", async () => {
    const discovery = createServerDiscovery({
      ports: [],
      nowMs: () => 0,
      processes: () => Promise.reject(new Error("hidden")),
      get: () => Promise.reject(new Error("refused")),
    });
    expect(await discovery.look()).toBe(false);
  });
});

describe("createServerDiscovery and trtllm-serve", () => {
  const json = '[{"iter":1,"iterLatencyMS":7.0,"numActiveRequests":1}]';
  const found = async (prometheus: { status: number; body: string }) => {
    const discovery = createServerDiscovery({
      ports: [8000],
      nowMs: () => 0,
      processes: async () => [],
      get: async (url) => ({
        ...(url.endsWith("/prometheus/metrics") ? prometheus : { status: 200, body: json }),
        truncated: false,
        start_us: 0,
        end_us: 0,
        duration_ms: 1,
      }),
    });
    await discovery.look();
    return discovery.servers.map((s) => [s.engine, s.metrics_path]);
  };

  it("knows its JSON page, and its Prometheus page where it has one", async () => {
    expect(recogniseEngine("[]")).toBeNull();
    expect(await found({ status: 404, body: "" })).toEqual([["trtllm", "/metrics"]]);
    expect(await found({ status: 200, body: "trtllm_num_requests_running 1\n" })).toEqual([["trtllm", "/prometheus/metrics"]]);
  });
});

describe("readRange", () => {
  const range = (query: string) => readRange(new URLSearchParams(query), 10_000_000_000_000);

  it("reads since, and from with or without to", () => {
    expect(range("since=30m")).toEqual({ from_us: 10_000_000_000_000 - 1_800_000_000, to_us: 10_000_000_000_000 });
    expect(range("from=1970-01-02T00:00:00Z&to=1970-01-02T00:00:01.5Z")).toEqual({ from_us: 86_400_000_000, to_us: 86_401_500_000 });
    expect(range("from=1970-01-02T00:00:00Z")).toEqual({ from_us: 86_400_000_000, to_us: 10_000_000_000_000 });
  });

  it.each(["", "since=", "since=soon", "since=-5m", "since=5", "since=5m&from=1970-01-02T00:00:00Z", "since=5m&to=1970-01-02T00:00:00Z"])(
    "says what is wrong with %j",
    (query) => {
      expect(range(query)).toEqual(expect.any(String));
    },
  );
  it.each(["from=12:00", "from=1970-01-02T00:00:00Z&to=1970-01-01T00:00:00Z", "last=5m", "to=1970-01-02T00:00:00Z"])(
    "says what is wrong with %j",
    (query) => {
      expect(range(query)).toEqual(expect.any(String));
    },
  );
});
