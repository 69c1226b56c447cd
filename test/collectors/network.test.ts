import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { network } from "../../collectors/network.js";
import { chooseInterfaces } from "../../collectors/parts/network-interfaces.js";
import { copyTree, expectCanonical, fixedTree, procContext, REAL_ROOTS } from "./proc-context.js";

describe("network", () => {
  it("reads the hardware interface of the fixture node", async () => {
    const { ctx } = procContext(fixedTree("v2"));
    const reading = await network.start().poll(ctx);
    expectCanonical(reading);
    expect(reading.samples.map((s) => [s.entity.key, s.entity.labels, s.values])).toEqual([
      [
        "nic:eth0",
        { type: "nic" },
        {
          rx_bytes_total: 398_781_690,
          tx_bytes_total: 822_140,
          rx_errors_total: 1,
          rx_drops_total: 2,
          tx_errors_total: 3,
          tx_drops_total: 4,
          speed_bytes_per_s: 3.125e9,
          up: 1,
        },
      ],
    ]);
    expect(await network.detect(ctx)).toEqual({ found: true, text: "network interfaces: eth0" });
  });

  it("takes what looks real by name without hardware, and anything but the loopback last", () => {
    const { sys } = copyTree("v2");
    rmSync(`${sys}/class/net/eth0/device`, { recursive: true });
    expect([...chooseInterfaces(["lo", "eth0", "veth1a", "docker0", "eth0:1", "bond0", "eth0.7"], sys)]).toEqual(["eth0"]);
    expect([...chooseInterfaces(["lo", "veth1a"], sys)]).toEqual(["veth1a"]);
    expect([...chooseInterfaces(["lo"], sys)]).toEqual([]);
  });

  it("leaves out an unknown speed and state, sees a link go down and a new interface at once", async () => {
    const roots = copyTree("v2");
    writeFileSync(`${roots.sys}/class/net/eth0/speed`, "-1\n");
    const { ctx } = procContext(roots);
    const reader = network.start();
    expect((await reader.poll(ctx)).samples[0]?.values).not.toHaveProperty("speed_bytes_per_s");
    writeFileSync(`${roots.sys}/class/net/eth0/operstate`, "down\n");
    mkdirSync(`${roots.sys}/class/net/eth9/device`, { recursive: true });
    appendFileSync(`${roots.proc}/net/dev`, " eth9: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n eth8: 7\n");
    const reading = await reader.poll(ctx);
    expect(reading.samples.map((s) => [s.entity.key, s.values.up])).toEqual([
      ["nic:eth0", 0],
      ["nic:eth9", undefined],
    ]);
    expect(reading.rejected).toEqual({ net_dev_line: 1 });
  });

  it("says when there is nothing to read", async () => {
    const { ctx } = procContext({ proc: "/nowhere", sys: "/nowhere" });
    expect((await network.start().poll(ctx)).notice).toMatch(/cannot be read/);
    expect((await network.detect(ctx)).found).toBe(false);
  });

  it("reads this machine", async () => {
    const { ctx } = procContext(REAL_ROOTS);
    const reading = await network.start().poll(ctx);
    expectCanonical(reading);
    const onlyLoopback = readFileSync("/proc/net/dev", "utf8").trim().split("\n").length <= 3;
    expect(reading.samples.length > 0 || onlyLoopback).toBe(true);
    expect(reading.samples.some((s) => s.entity.key === "nic:lo")).toBe(false);
  });
});
