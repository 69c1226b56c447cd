import { describe, expect, it } from "vitest";
import { parseCpuacctUsage, parseV1CpuStat, parseV1MemoryLimit, v1CpuLimit } from "../../src/text/cgroup-v1.js";
import { countCpuList, parseCpuMax, parseOomKills, parseSingleCount, parseV2CpuStat } from "../../src/text/cgroup-v2.js";
import { parseInfinibandCounter, parseInfinibandRate, parseInfinibandState, parseLinkLayer } from "../../src/text/infiniband-counters.js";
import { parseCgroupMounts } from "../../src/text/proc-mountinfo.js";

describe("cgroup v1", () => {
  it("counts throttled time in nanoseconds", () => {
    expect(parseV1CpuStat("nr_periods 2000\nnr_throttled 100\nthrottled_time 7500000000\n")).toEqual({
      usage_s: null,
      periods: 2000,
      throttled_periods: 100,
      throttled_s: 7.5,
    });
    expect(parseCpuacctUsage("123456789012\n")).toBe(123.456789012);
    expect(parseCpuacctUsage("")).toBeNull();
  });

  it("knows no limit from a limit", () => {
    expect(v1CpuLimit("250000\n", "100000\n")).toBe(2.5);
    expect(v1CpuLimit("-1\n", "100000\n")).toBeNull();
    expect(v1CpuLimit("", "")).toBeNull();
    expect(v1CpuLimit("100", "0")).toBeNull();
    expect(parseV1MemoryLimit("9223372036854771712\n")).toBeNull();
    expect(parseV1MemoryLimit("1024\n")).toBe(1024);
  });
});

describe("cgroup v2", () => {
  it("reads cpu.stat with and without a quota", () => {
    expect(parseV2CpuStat("usage_usec 90000000\nnr_periods 10\nnr_throttled 3\nthrottled_usec 500000\n")).toEqual({
      usage_s: 90,
      periods: 10,
      throttled_periods: 3,
      throttled_s: 0.5,
    });
    expect(parseV2CpuStat("usage_usec 5\nuser_usec 1\n")).toEqual({
      usage_s: 0.000005,
      periods: null,
      throttled_periods: null,
      throttled_s: null,
    });
  });

  it("reads limits, events and sets", () => {
    expect(parseCpuMax("600000 100000\n")).toBe(6);
    expect(parseCpuMax("max 100000\n")).toBeNull();
    expect(parseCpuMax("")).toBeNull();
    expect(parseSingleCount("max\n")).toBeNull();
    expect(parseSingleCount("42\n")).toBe(42);
    expect(parseOomKills("oom 1\noom_kill 2\noom_group_kill 0\n")).toBe(2);
    expect(parseOomKills("oom_kill_disable 0\nunder_oom 0\n")).toBeNull();
    expect(countCpuList("0-3,8,10-11\n")).toBe(7);
    expect(countCpuList("\n")).toBeNull();
    expect(countCpuList("0-x")).toBeNull();
    expect(countCpuList("3-1")).toBeNull();
  });
});

describe("mountinfo", () => {
  it("finds hierarchies, optional fields and escapes", () => {
    const mounts = parseCgroupMounts(
      [
        "30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755",
        "31 30 0:28 /docker/x /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:2 - cgroup cgroup rw,cpu,cpuacct",
        "39 30 0:36 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd",
        "40 30 0:37 /../.. /host/a\\040b rw - cgroup2 cgroup2 rw,nsdelegate",
        "41 30 0:38",
        "",
      ].join("\n"),
    );
    expect(mounts).toEqual([
      { version: 1, root: "/docker/x", mount_point: "/sys/fs/cgroup/cpu,cpuacct", controllers: ["cpu", "cpuacct"] },
      { version: 1, root: "/", mount_point: "/sys/fs/cgroup/systemd", controllers: ["name=systemd"] },
      { version: 2, root: "/../..", mount_point: "/host/a b", controllers: [] },
    ]);
  });
});

describe("infiniband", () => {
  it("does not take text or a stuck counter for a count", () => {
    expect(parseInfinibandCounter("77\n")).toBe(77);
    expect(parseInfinibandCounter("18446744073709551615\n")).toBeNull();
    expect(parseInfinibandCounter("N/A (no PMA)\n")).toBeNull();
    expect(parseInfinibandCounter("4294967295\n")).toBeNull();
    expect(parseInfinibandCounter("")).toBeNull();
  });

  it("reads rate, state and layer", () => {
    expect(parseInfinibandRate("400 Gb/sec (4X NDR)\n")).toBe(50e9);
    expect(parseInfinibandRate("2.5 Gb/sec (1X SDR)\n")).toBe(0.3125e9);
    expect(parseInfinibandRate("")).toBeNull();
    expect([parseInfinibandState("4: ACTIVE\n"), parseInfinibandState("1: DOWN\n"), parseInfinibandState("")]).toEqual([1, 0, null]);
    expect([parseLinkLayer("InfiniBand\n"), parseLinkLayer("Ethernet\n"), parseLinkLayer("Unspecified\n")]).toEqual([
      "infiniband",
      "roce",
      null,
    ]);
  });
});
