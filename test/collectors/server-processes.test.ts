import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { findServerProcesses } from "../../collectors/parts/find-server-processes.js";
import { serverProcesses } from "../../collectors/server-processes.js";
import type { Reading } from "../../schemas/collector.js";
import { asNobody, copyTree, expectCanonical, fixedTree, procContext, REAL_ROOTS, target } from "./proc-context.js";

const byName = (reading: Reading) => new Map(reading.samples.map((s) => [s.entity.labels.name, s]));
const edit = (path: string, change: (text: string) => string): void => writeFileSync(path, change(readFileSync(path, "utf8")));

describe("finding server processes", () => {
  it("knows each process of vLLM, and nothing else", async () => {
    const found = await findServerProcesses(fixedTree("v2"));
    expect(found.map((p) => [p.pid, p.engine, p.role, p.name, p.port, p.model, p.root_pid])).toEqual([
      [1000, "vllm", "api_server", "vllm", 8100, "acme/chat-8b", 1000],
      [1001, "vllm", "engine", "VLLM::EngineCore", null, null, 1000],
      [1002, "vllm", "worker", "VLLM::Worker_TP0", null, null, 1000],
      [1003, "vllm", "worker", "VLLM::Worker_TP1", null, null, 1000],
    ]);
    expect(JSON.stringify(found)).not.toContain("secret");
    expect((await findServerProcesses(fixedTree("v1"))).map((p) => [p.pid, p.role])).toEqual([
      [300, "api_server"],
      [301, "scheduler"],
      [302, "detokenizer"],
    ]);
    expect((await findServerProcesses(fixedTree("hybrid"))).map((p) => [p.pid, p.role])).toEqual([
      [400, "other"],
      [401, "worker"],
      [402, "api_server"],
    ]);
  });

  it("gives processes without a title the role of their place below vLLM's front end", async () => {
    const { proc } = copyTree("v2");
    writeFileSync(`${proc}/1001/cmdline`, readFileSync(`${proc}/1000/cmdline`));
    writeFileSync(
      `${proc}/1002/cmdline`,
      "python3\0-c\0from multiprocessing.spawn import spawn_main; spawn_main(7)\0--multiprocessing-fork\0",
    );
    expect((await findServerProcesses({ proc })).map((p) => [p.pid, p.role])).toEqual([
      [1000, "api_server"],
      [1001, "engine"],
      [1002, "worker"],
      [1003, "worker"],
    ]);
  });

  it("survives processes that vanish or hide while they are read", async () => {
    const { proc } = copyTree("v2");
    rmSync(`${proc}/1001/cmdline`);
    rmSync(`${proc}/1002/stat`);
    writeFileSync(`${proc}/1003/stat`, "1003 (VLLM::Work");
    mkdirSync(`${proc}/9999`);
    mkdirSync(`${proc}/8888/stat`, { recursive: true });
    expect((await findServerProcesses({ proc })).map((p) => p.pid)).toEqual([1000]);
    expect(await findServerProcesses({ proc: "/nowhere" })).toEqual([]);
  });
});

describe("server-processes", () => {
  it("gives counters, the hottest thread and the waiting of the fixture's processes", async () => {
    const roots = copyTree("v2");
    const { ctx, advance } = procContext(roots, [target()]);
    const reader = serverProcesses.start();
    const first = await reader.poll(ctx);
    expectCanonical(first);
    expect(byName(first).get("vllm")).toMatchObject({
      entity: {
        key: "proc:1000:10000",
        labels: { role: "api_server", pid: "1000", name: "vllm", engine: "vllm", server: "chat" },
      },
      values: {
        cpu_s_total: 64,
        threads: 3,
        rss_bytes: 204_800 * 1024,
        run_wait_s_total: 0.5,
        involuntary_switches_total: 37,
        major_faults_total: 3,
        start_time_s: 1_790_000_100,
      },
    });
    expect(first.samples.every((s) => s.entity.labels.server === "chat")).toBe(true);
    expect(first.samples[0]?.values).not.toHaveProperty("hottest_thread_cores");

    advance(1);
    edit(`${roots.proc}/1000/stat`, (t) => t.replace(" 6000 400 ", " 6120 400 "));
    writeFileSync(`${roots.proc}/1000/task/1010/schedstat`, "10950000000 350000000 2100\n");
    writeFileSync(`${roots.proc}/1000/task/1000/schedstat`, "50200000000 400000000 9100\n");
    const second = byName(await reader.poll(ctx)).get("vllm")?.values;
    expect(second?.hottest_thread_tid).toBe(1010);
    expect(second?.hottest_thread_cores).toBeCloseTo(0.95, 9);
    expect(second?.run_wait_s_total).toBeCloseTo(0.75, 9);
    expect(second?.cpu_s_total).toBeCloseTo(65.2, 9);
  });

  it("counts by ticks where the kernel keeps no scheduler statistics", async () => {
    const roots = copyTree("v1");
    const { ctx, advance } = procContext(roots);
    const reader = serverProcesses.start();
    await reader.poll(ctx);
    advance(2);
    edit(`${roots.proc}/302/task/302/stat`, (t) => t.replace(" 75 75 20", " 175 75 20").replace(" 75 75 0", " 175 75 0"));
    const values = byName(await reader.poll(ctx)).get("sglang::detokenizer")?.values;
    expect(values?.hottest_thread_cores).toBeCloseTo(0.5, 9);
    expect(values).not.toHaveProperty("run_wait_s_total");
  });

  it("drops a process that ended or whose pid was reused, and marks the restart when its place is taken", async () => {
    const roots = copyTree("v2");
    const { ctx, advance } = procContext(roots, [target()]);
    const reader = serverProcesses.start();
    await reader.poll(ctx);
    advance(11);
    rmSync(`${roots.proc}/1001`, { recursive: true });
    edit(`${roots.proc}/1002/stat`, (t) => t.replace(" 10300 ", " 10999 "));
    expect([...byName(await reader.poll(ctx)).keys()]).toEqual(["vllm", "VLLM::Worker_TP1"]);
    cpSync(`${fixedTree("v2").proc}/1001`, `${roots.proc}/1555`, { recursive: true });
    edit(`${roots.proc}/1555/stat`, (t) => t.replace(/^1001 /, "1555 ").replace(" 10200 ", " 77700 "));
    advance(15);
    const reading = await reader.poll(ctx);
    expect([...byName(reading).values()].map((s) => s.entity.key)).toEqual([
      "proc:1000:10000",
      "proc:1555:77700",
      "proc:1002:10999",
      "proc:1003:10300",
    ]);
    expect(reading.marks).toEqual([
      { ts_us: 1_790_000_777_000_000, node: "node-a", kind: "restart", text: "chat: VLLM::EngineCore restarted (pid 1001, now 1555)" },
    ]);
    advance(15);
    expect((await reader.poll(ctx)).marks).toEqual([]);
  });

  it("takes a zombie for ended, when it is found and while it is followed", async () => {
    const roots = copyTree("v2");
    const { ctx, advance } = procContext(roots);
    const reader = serverProcesses.start();
    expect((await reader.poll(ctx)).samples).toHaveLength(4);
    edit(`${roots.proc}/1001/stat`, (t) => t.replace(") S ", ") Z "));
    expect((await findServerProcesses(roots)).map((p) => p.pid)).toEqual([1000, 1002, 1003]);
    advance(1);
    expect((await reader.poll(ctx)).samples).toHaveLength(3);
  });

  it("follows a process that only the target's pids name", async () => {
    const { ctx } = procContext(fixedTree("v2"), [target({ name: "own", engine: "acme", pids: [2000], url: "http://127.0.0.1:1" })]);
    const own = byName(await serverProcesses.start().poll(ctx)).get("a) S (b");
    expect(own?.entity.labels).toEqual({ role: "api_server", pid: "2000", name: "a) S (b", engine: "acme", server: "own" });
  });

  it("gives what it may read and leaves out the rest", async () => {
    const roots = copyTree("v2");
    chmodSync(`${roots.proc}/1003/cmdline`, 0);
    chmodSync(`${roots.proc}/1001/status`, 0);
    chmodSync(`${roots.proc}/1001/task/1001/schedstat`, 0);
    chmodSync(`${roots.proc}/1002/task`, 0);
    const { ctx, advance } = procContext(roots);
    const reader = serverProcesses.start();
    await asNobody(() => reader.poll(ctx));
    advance(1);
    const reading = byName(await asNobody(() => reader.poll(ctx)));
    expect([...reading.keys()]).toEqual(["vllm", "VLLM::EngineCore", "VLLM::Worker_TP0"]);
    expect(Object.keys(reading.get("VLLM::EngineCore")?.values ?? {})).not.toContain("rss_bytes");
    expect(Object.keys(reading.get("VLLM::EngineCore")?.values ?? {})).not.toContain("run_wait_s_total");
    expect(Object.keys(reading.get("VLLM::Worker_TP0")?.values ?? {})).not.toContain("hottest_thread_cores");
  });

  it("says that no server is there, and keeps looking", async () => {
    const roots = copyTree("v1");
    for (const pid of [300, 301, 302]) rmSync(`${roots.proc}/${pid}`, { recursive: true });
    const { ctx, advance } = procContext(roots);
    expect(await serverProcesses.detect(ctx)).toMatchObject({ found: true, text: "no inference server process yet" });
    const reader = serverProcesses.start();
    expect((await reader.poll(ctx)).samples).toEqual([]);
    cpSync(`${fixedTree("v1").proc}/300`, `${roots.proc}/300`, { recursive: true });
    advance(15);
    expect((await reader.poll(ctx)).samples).toHaveLength(1);
    expect((await serverProcesses.detect({ ...ctx, roots: { proc: "/nowhere", sys: "/nowhere" } })).found).toBe(false);
  });
});

describe("server-processes on this machine", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  it("follows a real busy process under an awkward name", async () => {
    const child = spawn("/bin/bash", ["-c", "echo ready; while :; do :; done"], {
      argv0: "VLLM::EngineCore) (",
      stdio: ["ignore", "pipe", "ignore"],
    });
    children.push(child);
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    const { ctx, advance } = procContext(REAL_ROOTS);
    const reader = serverProcesses.start();
    const ofChild = (r: Reading) => r.samples.find((s) => s.entity.labels.pid === String(child.pid));
    const first = ofChild(await reader.poll(ctx));
    expect(first?.entity.labels).toMatchObject({ role: "engine", engine: "vllm", name: "VLLM::EngineCore" });
    expect(first?.values.rss_bytes).toBeGreaterThan(0);
    const now = Date.now() / 1000;
    expect(Math.abs((first?.values.start_time_s ?? 0) - now)).toBeLessThan(60);
    await expect
      .poll(
        async () => {
          advance(1);
          const reading = await reader.poll(ctx);
          return (ofChild(reading)?.values.cpu_s_total ?? 0) - (first?.values.cpu_s_total ?? 0);
        },
        { timeout: 20_000, interval: 50 },
      )
      .toBeGreaterThan(0.05);
    advance(1);
    const last = ofChild(await reader.poll(ctx));
    expect(last?.values.hottest_thread_tid).toBe(child.pid);
    expect(last?.values.run_wait_s_total).toBeGreaterThanOrEqual(first?.values.run_wait_s_total ?? 0);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(ofChild(await reader.poll(ctx))).toBeUndefined();
  });
});
