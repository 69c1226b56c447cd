import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePidCgroup } from "../../src/text/proc-pid-cgroup.js";
import { flagValue, splitCmdline } from "../../src/text/proc-pid-cmdline.js";
import { parsePidStat, parsePidStatus, parseSchedStat } from "../../src/text/proc-pid-stat.js";

const statLine = (comm: string): string =>
  `77 (${comm}) S 5 77 77 0 -1 4194304 99 0 12 0 150 50 0 0 20 0 9 0 75746 3133440 394 18446744073709551615 1 1\n`;

describe("/proc/PID/stat", () => {
  it("survives any name", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 15 }), fc.constantFrom(") (", "a) S 1 (b", "", "((", "x y)")), (comm) => {
        expect(parsePidStat(statLine(comm))).toEqual({
          pid: 77,
          comm,
          state: "S",
          ppid: 5,
          is_kernel: false,
          cpu_s: 2,
          major_faults: 12,
          threads: 9,
          start_ticks: 75_746,
        });
      }),
    );
  });

  it("gives nothing for a cut or empty line", () => {
    const line = statLine("x");
    for (const text of ["", "77", "77 (x", "77 (x)", line.slice(0, 40), "abc (x) S 1"]) expect(parsePidStat(text)).toBeNull();
    expect(parsePidStat(line.replace("4194304", String(0x208040)))?.is_kernel).toBe(true);
  });
});

describe("other files of a process", () => {
  it("takes all zeros in schedstat as not kept", () => {
    expect(parseSchedStat("3623058 439387 2\n")).toEqual({ run_s: 0.003623058, wait_s: 0.000439387 });
    expect(parseSchedStat("0 0 0\n")).toBeNull();
    expect(parseSchedStat("")).toBeNull();
    expect(parseSchedStat("5 5")).toBeNull();
  });

  it("reads status, without memory for kernel threads", () => {
    expect(parsePidStatus("VmRSS:\t  100 kB\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n")).toEqual({
      rss_bytes: 102_400,
      involuntary_switches: 7,
    });
    expect(parsePidStatus("Name:\tkthreadd\n")).toEqual({ rss_bytes: null, involuntary_switches: null });
  });

  it("splits arguments and titles", () => {
    expect(splitCmdline("python3\0-m\0x\0")).toEqual(["python3", "-m", "x"]);
    expect(splitCmdline("VLLM::EngineCore\0\0\0\0")).toEqual(["VLLM::EngineCore"]);
    expect(splitCmdline("nginx: master process  \0")).toEqual(["nginx: master process"]);
    expect(splitCmdline("a\0\0b\0")).toEqual(["a", "", "b"]);
    expect(splitCmdline("")).toEqual([]);
  });

  it("finds flags", () => {
    const args = ["serve", "--port", "8000", "--model=m", "--flag", "--port=9000", "--empty="];
    expect(flagValue(args, "--port")).toBe("9000");
    expect(flagValue(args, "-p", "--model")).toBe("m");
    expect(flagValue(args, "--flag")).toBeNull();
    expect(flagValue(args, "--empty")).toBeNull();
    expect(flagValue(args, "--por")).toBeNull();
  });

  it("reads groups of both versions", () => {
    const groups = parsePidCgroup(
      "12:cpu,cpuacct:/docker/a:b\n3:memory:/docker/a\n1:name=systemd:/x (deleted)\n0::/../../pod/ctr\nrubbish\n",
    );
    expect(groups.unified).toBe("/../../pod/ctr");
    expect([...groups.v1]).toEqual([
      ["cpu", "/docker/a:b"],
      ["cpuacct", "/docker/a:b"],
      ["memory", "/docker/a"],
      ["name=systemd", "/x"],
    ]);
    expect(parsePidCgroup("").unified).toBeNull();
  });
});
