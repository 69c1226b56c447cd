import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cgroup } from "../../collectors/cgroup.js";
import { parseCgroupMounts } from "../../src/text/proc-mountinfo.js";
import { copyTree, expectCanonical, fixedTree, procContext, REAL_ROOTS, target } from "./proc-context.js";

const POD = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podaaaa.slice";
const CONTAINER = `${POD}/cri-containerd-c0ffee.scope`;
const edit = (path: string, change: (text: string) => string): void => writeFileSync(path, change(readFileSync(path, "utf8")));

describe("cgroup", () => {
  it("reads a container's v2 group once for all of its processes", async () => {
    const { ctx } = procContext(fixedTree("v2"), [target()]);
    const reading = await cgroup.start().poll(ctx);
    expectCanonical(reading);
    expect(reading.notice).toBeNull();
    expect(reading.samples).toHaveLength(1);
    expect(reading.samples[0]?.entity).toEqual({
      kind: "process",
      node: "node-a",
      key: `cgroup:${CONTAINER}`,
      labels: { role: "cgroup", name: CONTAINER, server: "chat" },
    });
    expect(reading.samples[0]?.values).toEqual({
      cpu_s_total: 90,
      cpu_limit_cores: 2,
      cfs_periods_total: 1000,
      cfs_throttled_periods_total: 250,
      cfs_throttled_s_total: 12.5,
      threads: 42,
      psi_cpu_some_s_total: 5,
      psi_mem_some_s_total: 0.1,
      psi_io_some_s_total: 0.2,
      mem_bytes: 8_589_934_592,
      mem_limit_bytes: 17_179_869_184,
      oom_kills_total: 0,
    });
  });

  it("reads v1 groups; a set of CPUs is a limit too, and no memory limit is none", async () => {
    const { ctx } = procContext(fixedTree("v1"));
    const reading = await cgroup.start().poll(ctx);
    expectCanonical(reading);
    expect(reading.samples.map((s) => [s.entity.key, s.entity.labels.server])).toEqual([["cgroup:/docker/feedface", undefined]]);
    expect(reading.samples[0]?.values).toEqual({
      cpu_s_total: 123.456789012,
      cpu_limit_cores: 2,
      cfs_periods_total: 2000,
      cfs_throttled_periods_total: 100,
      cfs_throttled_s_total: 7.5,
      mem_bytes: 4_294_967_296,
      oom_kills_total: 1,
    });
    expect((await cgroup.detect(ctx)).text).toBe("control groups v1");
  });

  it("in hybrid mode takes the ancestor that has the quota, accounting from v1 and pressure from v2", async () => {
    const { ctx } = procContext(fixedTree("hybrid"));
    const reading = await cgroup.start().poll(ctx);
    expect(reading.samples.map((s) => s.entity.key)).toEqual(["cgroup:/serving.slice"]);
    expect(reading.samples[0]?.values).toMatchObject({ cpu_limit_cores: 1.5, cfs_throttled_s_total: 7.5, psi_cpu_some_s_total: 9 });
    expect((await cgroup.detect(ctx)).text).toBe("control groups v1 with v2 beside it");
  });

  it("does not take another group's pressure or memory for this one's", async () => {
    const roots = copyTree("hybrid");
    for (const pid of [400, 401, 402])
      edit(`${roots.proc}/${pid}/cgroup`, (t) => t.replace(/^0::.*$/m, "0::/").replace(/memory:.*$/m, "memory:/serving.slice"));
    writeFileSync(`${roots.sys}/fs/cgroup/cpu,cpuacct/serving.slice/tgi.service/cpu.cfs_quota_us`, "100000\n");
    writeFileSync(`${roots.sys}/fs/cgroup/unified/cpu.pressure`, "some avg10=0.00 avg60=0.00 avg300=0.00 total=99\n");
    const { ctx } = procContext(roots);
    const [sample] = (await cgroup.start().poll(ctx)).samples;
    const values = sample?.values;
    expect(sample?.entity.key).toBe("cgroup:/serving.slice/tgi.service");
    expect(values?.cfs_throttled_s_total).toBe(7.5);
    for (const column of ["psi_cpu_some_s_total", "mem_bytes", "oom_kills_total"]) expect(values).not.toHaveProperty(column);
  });

  it("takes a pod's quota when the container has none", async () => {
    const roots = copyTree("v2");
    writeFileSync(`${roots.sys}/fs/cgroup${CONTAINER}/cpu.max`, "max 100000\n");
    writeFileSync(`${roots.sys}/fs/cgroup${POD}/cpu.max`, "50000 100000\n");
    const { ctx } = procContext(roots);
    const [sample] = (await cgroup.start().poll(ctx)).samples;
    expect([sample?.entity.key, sample?.values.cpu_limit_cores]).toEqual([`cgroup:${POD}`, 0.5]);
  });

  it("finds groups outside of the agent's own cgroup namespace", async () => {
    const roots = copyTree("v2");
    for (const pid of [1000, 1001, 1002, 1003])
      writeFileSync(`${roots.proc}/${pid}/cgroup`, "0::/../../podaaaa.slice/cri-containerd-c0ffee.scope\n");
    const hidden = procContext(roots);
    expect((await cgroup.start().poll(hidden.ctx)).notice).toMatch(/groups of 4 server processes are not visible/);
    for (const pid of [1000, 1001, 1002, 1003])
      writeFileSync(`${roots.proc}/${pid}/cgroup`, "0::/../../kubepods-burstable-podaaaa.slice/cri-containerd-c0ffee.scope\n");
    const { ctx } = procContext(roots);
    expect((await cgroup.start().poll(ctx)).samples.map((s) => s.entity.key)).toEqual([`cgroup:${CONTAINER}`]);
  });

  it("inside a container reads what is mounted, and not a group that is not", async () => {
    const roots = copyTree("v2");
    edit(`${roots.proc}/self/mountinfo`, (t) => t.replace("0:27 / /sys", `0:27 ${CONTAINER} /sys`));
    cpSync(`${roots.sys}/fs/cgroup${CONTAINER}`, `${roots.sys}/fs/cgroup`, { recursive: true });
    writeFileSync(`${roots.proc}/1003/cgroup`, "0::/kubepods.slice/other\n");
    const { ctx } = procContext(roots);
    const reading = await cgroup.start().poll(ctx);
    expect(reading.samples.map((s) => [s.entity.key, s.values.cpu_limit_cores])).toEqual([["cgroup:/", 2]]);
    expect(reading.notice).toMatch(/groups of 1 server processes/);
  });

  it("marks an OOM kill of the group, follows a changed limit, and forgets a group that is gone", async () => {
    const roots = copyTree("v2");
    const folder = `${roots.sys}/fs/cgroup${CONTAINER}`;
    const { ctx, advance } = procContext(roots);
    const reader = cgroup.start();
    expect((await reader.poll(ctx)).marks).toEqual([]);
    advance(30);
    edit(`${folder}/memory.events`, (t) => t.replace("oom_kill 0", "oom_kill 2"));
    writeFileSync(`${folder}/cpu.max`, "600000 100000\n");
    const reading = await reader.poll(ctx);
    expect(reading.marks).toEqual([
      { ts_us: ctx.clock.wallUs(), node: "node-a", kind: "oom_kill", text: `out of memory in group ${CONTAINER}: 2 killed` },
    ]);
    // The set has all 4 CPUs, so the quota of 6 is the limit that is known.
    expect(reading.samples[0]?.values.cpu_limit_cores).toBe(6);
    expect((await reader.poll(ctx)).marks).toEqual([]);
    rmSync(folder, { recursive: true });
    expect((await reader.poll(ctx)).samples).toEqual([]);
  });

  it("reads the topmost group while no server is known: the machine's, or the container's that the agent is in", async () => {
    const roots = copyTree("v2");
    for (const pid of [1000, 1001, 1002, 1003]) rmSync(`${roots.proc}/${pid}`, { recursive: true });
    const { ctx } = procContext(roots);
    const reading = await cgroup.start().poll(ctx);
    expect(reading.samples.map((s) => [s.entity.key, s.entity.labels.role, s.values])).toEqual([
      ["cgroup:/", "cgroup", { cpu_s_total: 900 }],
    ]);
    expect(reading.notice).toMatch(/no inference server process/);
    cpSync(`${roots.sys}/fs/cgroup${CONTAINER}`, `${roots.sys}/fs/cgroup`, { recursive: true });
    expect((await cgroup.start().poll(ctx)).samples[0]?.values).toMatchObject({ cpu_s_total: 90, cpu_limit_cores: 2 });
  });

  it("names the server as soon as one is known", async () => {
    const { ctx } = procContext(fixedTree("v2"));
    const reader = cgroup.start();
    expect((await reader.poll(ctx)).samples[0]?.entity.labels).not.toHaveProperty("server");
    const reading = await reader.poll({ ...ctx, servers: [target({ pids: [1000] })] });
    expect(reading.samples[0]?.entity.labels.server).toBe("chat");
  });

  it("says that there are no groups", async () => {
    const { ctx } = procContext({ proc: "/nowhere", sys: "/nowhere" });
    expect((await cgroup.start().poll(ctx)).samples).toEqual([]);
    expect((await cgroup.detect(ctx)).found).toBe(false);
  });
});

/** A v1 `cpu` hierarchy in which this process may make groups: what CI has. */
const writableV1 = (): string | null => {
  const mount = parseCgroupMounts(readFileSync("/proc/self/mountinfo", "utf8")).find((m) => m.controllers.includes("cpu"));
  if (mount === undefined) return null;
  const folder = `${mount.mount_point}/whyslow-test-${process.pid}`;
  try {
    mkdirSync(folder);
    const hasQuota = existsSync(`${folder}/cpu.cfs_quota_us`);
    rmdirSync(folder);
    return hasQuota ? folder : null;
  } catch {
    return null;
  }
};

describe("cgroup on this machine", () => {
  it("reads the real groups", async () => {
    const { ctx } = procContext(REAL_ROOTS);
    const reading = await cgroup.start().poll(ctx);
    expectCanonical(reading);
    if ((await cgroup.detect(ctx)).found) expect(reading.samples[0]?.values.cpu_s_total).toBeGreaterThan(0);
  });

  const folder = writableV1();
  it.skipIf(folder === null && process.env.WHYSLOW_REQUIRE_ALL !== "1")(
    "sees a real quota throttle (skipped where no v1 cpu group can be made)",
    async () => {
      const group = folder ?? "";
      let child: ChildProcess | undefined;
      mkdirSync(group);
      try {
        writeFileSync(`${group}/cpu.cfs_period_us`, "20000");
        writeFileSync(`${group}/cpu.cfs_quota_us`, "4000");
        child = spawn("/bin/bash", ["-c", "read; while :; do :; done"], { argv0: "VLLM::EngineCore", stdio: ["pipe", "ignore", "ignore"] });
        writeFileSync(`${group}/cgroup.procs`, String(child.pid));
        child.stdin?.write("\n");
        const { ctx, advance } = procContext(REAL_ROOTS, [target({ pids: [child.pid ?? 0] })]);
        const reader = cgroup.start();
        const values = async () => {
          advance(1);
          const reading = await reader.poll(ctx);
          expectCanonical(reading);
          return reading.samples.find((s) => s.entity.labels.server === "chat")?.values ?? {};
        };
        expect((await values()).cpu_limit_cores).toBeCloseTo(0.2, 9);
        await expect.poll(async () => (await values()).cfs_throttled_s_total ?? 0, { timeout: 20_000, interval: 50 }).toBeGreaterThan(0.05);
        const last = await values();
        expect(last.cfs_throttled_periods_total).toBeGreaterThan(0);
        expect(last.cfs_periods_total).toBeGreaterThanOrEqual(last.cfs_throttled_periods_total ?? 0);
      } finally {
        if (child !== undefined) {
          const gone = new Promise((resolve) => child?.once("exit", resolve));
          child.kill("SIGKILL");
          await gone;
        }
        // The kernel lets go of a group a moment after its last process.
        await expect.poll(() => rmdirSync(group), { timeout: 5000 }).toBeUndefined();
      }
    },
  );
});
