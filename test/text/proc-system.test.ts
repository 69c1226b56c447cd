import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDiskStats } from "../../src/text/proc-diskstats.js";
import { lineValue, parseCount } from "../../src/text/proc-line-value.js";
import { parseLoad1 } from "../../src/text/proc-loadavg.js";
import { parseMemInfo, parseVmStat } from "../../src/text/proc-memory.js";
import { parseNetDev } from "../../src/text/proc-net-dev.js";
import { parseTcp, snmpValue } from "../../src/text/proc-net-snmp.js";
import { parsePressure } from "../../src/text/proc-pressure.js";
import { parseProcStat } from "../../src/text/proc-stat.js";

describe("line values", () => {
  it("takes a whole key at the start of a line, and only a number", () => {
    const text = "pgmajfault 5\nxpswpin 1\npswpin 2\noom_kill_disable 7\nMem:   12 kB\nlast 9";
    expect(lineValue(text, "pswpin")).toBe(2);
    expect(lineValue(text, "oom_kill")).toBeNull();
    expect(lineValue(text, "Mem")).toBe(12);
    expect(lineValue(text, "last")).toBe(9);
    expect(lineValue("key max\n", "key")).toBeNull();
    expect(lineValue("key -1\n", "key")).toBeNull();
    expect(lineValue("key 12ab\n", "key")).toBeNull();
    expect(lineValue("key", "key")).toBeNull();
    expect(parseCount("")).toBeNull();
    expect(parseCount("1.5")).toBeNull();
  });

  it("agrees with splitting every line", () => {
    const word = fc.stringMatching(/^[a-z_]{1,8}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.nat())), word, (pairs, key) => {
        const text = pairs.map(([k, v]) => `${k} ${v}\n`).join("");
        expect(lineValue(text, key)).toBe(pairs.find(([k]) => k === key)?.[1] ?? null);
      }),
    );
  });
});

describe("/proc/stat", () => {
  it("sums what belongs together, in seconds", () => {
    const stat = parseProcStat("cpu  10000 200 3000 900000 700 11 89 40 5 0\ncpu0 1 2 3\ncpu11 1 2 3\nctxt 42\nbtime 1790000000\n");
    expect(stat).toEqual({
      user_s: 102,
      system_s: 31,
      idle_s: 9000,
      iowait_s: 7,
      steal_s: 0.4,
      cpu_count: 2,
      context_switches: 42,
      boot_time_s: 1_790_000_000,
    });
  });

  it("leaves out what an old kernel or a cut text does not give", () => {
    const stat = parseProcStat("cpu  100 0 100 100");
    expect(stat.iowait_s).toBeNull();
    expect(stat.steal_s).toBeNull();
    expect(stat.system_s).toBe(1);
    expect(stat.cpu_count).toBeNull();
    expect(Object.values(parseProcStat("")).every((v) => v === null)).toBe(true);
    expect(parseProcStat("cpu0 1 2 3 4").user_s).toBeNull();
  });
});

describe("memory, load and pressure", () => {
  it("reads sizes in bytes", () => {
    expect(parseMemInfo("MemTotal:  2 kB\nMemAvailable: 1 kB\nSwapTotal: 4 kB\nSwapFree: 1 kB\n")).toEqual({
      total_bytes: 2048,
      available_bytes: 1024,
      swap_used_bytes: 3072,
    });
    expect(parseMemInfo("MemTotal: 2 kB\n")).toEqual({ total_bytes: 2048, available_bytes: null, swap_used_bytes: null });
  });

  it("tells oom_kill from names that begin like it, and misses it on old kernels", () => {
    expect(parseVmStat("pswpin 1\npswpout 2\npgmajfault 3\noom_kill 4\n")).toEqual({
      swap_in_pages: 1,
      swap_out_pages: 2,
      major_faults: 3,
      oom_kills: 4,
    });
    expect(parseVmStat("pswpin 1\noom_kill_something 4\n").oom_kills).toBeNull();
  });

  it("reads load and stall time", () => {
    expect(parseLoad1("1.93 0.64 0.30 1/95 9147\n")).toBe(1.93);
    expect(parseLoad1("")).toBeNull();
    const text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=14036781\n";
    expect(parsePressure(text)).toEqual({ some_s: 14.036781, full_s: null });
    expect(parsePressure(`${text}full avg10=1.00 avg60=0.00 avg300=0.00 total=5\n`).full_s).toBe(0.000005);
    expect(parsePressure("some avg10=0.00 total=")).toEqual({ some_s: null, full_s: null });
  });
});

describe("/proc/diskstats", () => {
  const line = (name: string): string => `   8 0 ${name} 10 0 16 1 20 0 32 2 0 70 3`;
  const names = (...all: string[]): string[] => [...parseDiskStats(all.map(line).join("\n")).disks.keys()];

  it("counts whole devices once", () => {
    expect(names("nvme0n1", "nvme0n1p1", "nvme0n1p12", "nvme0c0n1", "sda", "sda1", "loop0", "ram0", "zram0", "dm-0", "md0")).toEqual([
      "nvme0n1",
      "sda",
    ]);
    expect(names("mmcblk0", "mmcblk0p1", "vda", "vdaa", "vda1", "xvda1")).toEqual(["mmcblk0", "vda", "vdaa", "xvda1"]);
    expect(names("sda", "sdaa", "sdaa3")).toEqual(["sda", "sdaa"]);
  });

  it("uses sectors of 512 bytes and milliseconds, and counts what is no disk line", () => {
    const { disks, rejected } = parseDiskStats(`${line("sda")}\n\n   8 0 sdb 10 0\n   8 0 sdc a b c d e f g h i j k\n`);
    expect(disks.get("sda")).toEqual({ read_bytes: 8192, written_bytes: 16_384, busy_s: 0.07 });
    expect(rejected).toBe(2);
  });
});

describe("/proc/net", () => {
  it("reads interfaces whose number touches the name, and counts broken lines", () => {
    const text =
      "Inter-| x\n face |bytes y|z\n  eth0:398781690 13229 1 2 0 0 0 0 822140 7226 3 4 0 0 0 0\neth0:1: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n eth1: 5 6\n";
    const { interfaces, rejected } = parseNetDev(text);
    expect(interfaces.map((i) => i.name)).toEqual(["eth0", "eth0:1"]);
    expect(interfaces[0]).toMatchObject({ rx_bytes: 398_781_690, rx_errors: 1, rx_drops: 2, tx_bytes: 822_140, tx_errors: 3, tx_drops: 4 });
    expect(rejected).toBe(1);
  });

  it("finds TCP values by name", () => {
    const snmp = "Ip: A\nIp: 1\nTcp: RtoAlgorithm MaxConn CurrEstab OutSegs RetransSegs\nTcp: 1 -1 5 72 11\n";
    expect(parseTcp(snmp, "TcpExt: ListenDrops ListenOverflows\nTcpExt: 8 7\n")).toEqual({
      out_segs: 72,
      retrans_segs: 11,
      established: 5,
      listen_overflows: 7,
      listen_drops: 8,
    });
    expect(parseTcp(null, null).out_segs).toBeNull();
    expect(snmpValue(snmp, "Tcp", "MaxConn")).toBeNull();
    expect(snmpValue("Tcp: A B\nTcp: 1", "Tcp", "B")).toBeNull();
    expect(snmpValue("Tcp: A B\n", "Tcp", "A")).toBeNull();
    expect(snmpValue("XTcp: A\nXTcp: 1\n", "Tcp", "A")).toBeNull();
  });
});

describe("any text", () => {
  const parsers = [
    parseProcStat,
    parseMemInfo,
    parseVmStat,
    parseLoad1,
    parsePressure,
    parseDiskStats,
    parseNetDev,
    (t: string) => parseTcp(t, t),
  ];
  it("is read without a crash, cut off anywhere", () => {
    const whole = ["stat", "meminfo", "vmstat", "loadavg", "pressure/cpu", "diskstats", "net/dev", "net/snmp"].map((f) =>
      readFileSync(new URL(`../fixtures/proc-tree/v2/proc/${f}`, import.meta.url), "utf8"),
    );
    fc.assert(
      fc.property(fc.constantFrom(...whole), fc.double({ min: 0, max: 1, noNaN: true }), fc.string(), (text, share, rest) => {
        for (const parse of parsers) parse(text.slice(0, Math.floor(text.length * share)) + rest);
      }),
    );
  });
});
