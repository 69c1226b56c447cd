import { cpSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { host } from "../../collectors/host.js";
import { copyTree, expectCanonical, fixedTree, procContext, REAL_ROOTS } from "./proc-context.js";

describe("host", () => {
  it("reads every column of the fixture node", async () => {
    const { ctx } = procContext(fixedTree("v2"));
    const reading = await host.start().poll(ctx);
    expectCanonical(reading);
    expect(reading.notice).toBeNull();
    expect(reading.samples).toHaveLength(1);
    expect(reading.samples[0]?.entity).toEqual({ kind: "host", node: "node-a", key: "node-a", labels: {} });
    expect(reading.samples[0]?.ts_us).toBe(ctx.clock.wallUs());
    expect(reading.samples[0]?.values).toEqual({
      cpu_user_s_total: 102,
      cpu_system_s_total: 31,
      cpu_idle_s_total: 9000,
      cpu_iowait_s_total: 7,
      cpu_steal_s_total: 0.4,
      cpu_count: 4,
      load1: 1.93,
      mem_total_bytes: 24_683_620 * 1024,
      mem_available_bytes: 20_000_000 * 1024,
      swap_used_bytes: 100 * 1024,
      swap_in_pages_total: 12,
      swap_out_pages_total: 34,
      major_faults_total: 567,
      oom_kills_total: 2,
      context_switches_total: 697_656,
      psi_cpu_some_s_total: 14.036781,
      psi_mem_some_s_total: 2,
      psi_mem_full_s_total: 1.5,
      psi_io_some_s_total: 3,
      psi_io_full_s_total: 2.5,
      // nvme0n1 and sda: neither their partitions nor the dm, md, loop and ram devices above them.
      disk_read_bytes_total: (2048 + 16) * 512,
      disk_written_bytes_total: (4096 + 32) * 512,
      disk_io_s_total: 0.1,
      tcp_out_segs_total: 7215,
      tcp_retrans_segs_total: 11,
      tcp_listen_overflows_total: 7,
      tcp_listen_drops_total: 8,
      tcp_established: 5,
    });
  });

  it("leaves pressure out where the kernel keeps none, and says so", async () => {
    const { ctx } = procContext(fixedTree("v1"));
    const reading = await host.start().poll(ctx);
    expect(Object.keys(reading.samples[0]?.values ?? {}).filter((c) => c.startsWith("psi_"))).toEqual([]);
    expect(reading.samples[0]?.values.load1).toBe(1.93);
    expect(reading.notice).toMatch(/pressure/);
    expect((await host.detect(ctx)).mend).toMatch(/psi=1/);
  });

  it("keeps what can be read when files are missing or broken, and counts broken rows", async () => {
    const roots = copyTree("v2");
    rmSync(`${roots.proc}/vmstat`);
    rmSync(`${roots.proc}/net`, { recursive: true });
    writeFileSync(`${roots.proc}/meminfo`, "MemTotal: lots\n");
    writeFileSync(`${roots.proc}/diskstats`, "8 0 sda 10 0 16 1 20 0 32 2 0 70 3\n8 16 sdb 1\n");
    const { ctx } = procContext(roots);
    const reading = await host.start().poll(ctx);
    const values = reading.samples[0]?.values ?? {};
    for (const absent of ["major_faults_total", "tcp_out_segs_total", "mem_total_bytes"]) expect(values).not.toHaveProperty(absent);
    expect(values.disk_read_bytes_total).toBe(8192);
    expect(reading.rejected).toEqual({ diskstats_line: 1 });
  });

  it("asks process 1 for the network when the node's /proc is mounted elsewhere", async () => {
    const roots = copyTree("v2");
    cpSync(`${roots.proc}/net`, `${roots.proc}/1/net`, { recursive: true });
    writeFileSync(`${roots.proc}/1/net/snmp`, "Tcp: OutSegs\nTcp: 1\n");
    const { ctx } = procContext(roots);
    expect((await host.start().poll(ctx)).samples[0]?.values.tcp_out_segs_total).toBe(1);
  });

  it("gives no sample for a root that is not there", async () => {
    const { ctx } = procContext({ proc: "/nowhere/proc", sys: "/nowhere/sys" });
    const reading = await host.start().poll(ctx);
    expect(reading.samples).toEqual([]);
    expect(reading.notice).toMatch(/nowhere/);
    expect((await host.detect(ctx)).found).toBe(false);
  });

  it("reads this machine, with counters that do not fall", async () => {
    const { ctx } = procContext(REAL_ROOTS);
    expect((await host.detect(ctx)).found).toBe(true);
    const reader = host.start();
    const [first, second] = [await reader.poll(ctx), await reader.poll(ctx)];
    expectCanonical(first);
    const [before, after] = [first.samples[0]?.values ?? {}, second.samples[0]?.values ?? {}];
    expect(Object.keys(before).length).toBeGreaterThan(20);
    for (const column of Object.keys(before).filter((c) => c.endsWith("_total") && c !== "cpu_iowait_s_total"))
      expect(after[column], column).toBeGreaterThanOrEqual(before[column] ?? 0);
  });
});
