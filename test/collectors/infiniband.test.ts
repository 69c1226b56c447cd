import { readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { infiniband } from "../../collectors/infiniband.js";
import { copyTree, expectCanonical, fixedTree, procContext } from "./proc-context.js";

const PORT = "class/infiniband/mlx5_0/ports/1";

/** Descriptors of this process that point below a folder. */
const openBelow = (folder: string): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false;
    }
  }).length;

describe("infiniband", () => {
  it("reads an InfiniBand and a RoCE port", async () => {
    const { ctx } = procContext(fixedTree("v2"));
    const reading = await infiniband.start().poll(ctx);
    expectCanonical(reading);
    expect(reading.samples.map((s) => [s.entity.key, s.entity.labels.type, s.values])).toEqual([
      [
        "ib:mlx5_0/1",
        "infiniband",
        {
          rx_bytes_total: 8000,
          tx_bytes_total: 4000,
          xmit_wait_ticks_total: 77,
          speed_bytes_per_s: 50e9,
          up: 1,
          rx_errors_total: 1,
          tx_drops_total: 2,
          link_downed_total: 3,
          cnp_handled_total: 0,
          ecn_marked_total: 0,
          out_of_sequence_total: 4,
          retries_total: 18,
        },
      ],
      [
        "ib:mlx5_1/1",
        "roce",
        {
          speed_bytes_per_s: 12.5e9,
          up: 0,
          rx_errors_total: 0,
          tx_drops_total: 0,
          link_downed_total: 0,
          cnp_handled_total: 21,
          ecn_marked_total: 22,
        },
      ],
    ]);
    expect(reading.notice).toBe("1 of 2 RDMA ports give no traffic counters");
  });

  it("reads traffic every time and the rest every fifth time, from files that stay open", async () => {
    const roots = copyTree("v2");
    const { ctx, advance } = procContext(roots);
    const reader = infiniband.start();
    const polls: Record<string, number>[] = [];
    for (let i = 0; i < 6; i++) {
      writeFileSync(`${roots.sys}/${PORT}/counters/port_xmit_data`, `${1000 + i}\n`);
      polls.push((await reader.poll(ctx)).samples[0]?.values ?? {});
      advance(1);
    }
    expect(polls.map((p) => p.tx_bytes_total)).toEqual([4000, 4004, 4008, 4012, 4016, 4020]);
    expect(polls.map((p) => p.link_downed_total)).toEqual([3, undefined, undefined, undefined, undefined, 3]);
  });

  it("leaves a sum out rather than give a part of it", async () => {
    const roots = copyTree("v2");
    writeFileSync(`${roots.sys}/${PORT}/hw_counters/packet_seq_err`, "N/A\n");
    const { ctx } = procContext(roots);
    expect((await infiniband.start().poll(ctx)).samples[0]?.values).not.toHaveProperty("retries_total");
  });

  it("survives an adapter that vanishes, and finds it when it is back", async () => {
    const roots = copyTree("v2");
    const { ctx, advance } = procContext(roots);
    const reader = infiniband.start();
    await reader.poll(ctx);
    rmSync(`${roots.sys}/class/infiniband`, { recursive: true });
    advance(31);
    expect((await reader.poll(ctx)).samples).toEqual([]);
    expect(await infiniband.detect(ctx)).toEqual({ found: false, text: "no InfiniBand or RoCE adapter" });
  });

  it("closes its files when the agent stops", async () => {
    const roots = copyTree("v2");
    const stop = new AbortController();
    const ctx = { ...procContext(roots).ctx, signal: stop.signal };
    await infiniband.start().poll(ctx);
    expect(openBelow(roots.sys)).toBeGreaterThan(10);
    stop.abort();
    await expect.poll(() => openBelow(roots.sys)).toBe(0);
  });
});
