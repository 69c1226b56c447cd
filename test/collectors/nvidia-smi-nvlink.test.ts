import { describe, expect, test } from "vitest";
import { nvidiaSmiNvlink } from "../../collectors/nvidia-smi-nvlink.js";
import { smiFixture } from "../text/nvidia-smi-fixtures.js";
import { fakeContext, NODE, START_US } from "./nvidia-smi-context.js";

const UUID = "GPU-aaaaaaaa-0000-4000-8000-000000000000";
const GPU = `GPU 0: X (UUID: ${UUID})`;

const answers =
  (over: Partial<Record<string, string>> = {}) =>
  (args: readonly string[]): string =>
    over[args.join(" ")] ??
    {
      "-L": smiFixture("590.48.01/list.txt"),
      "nvlink -s": smiFixture("590.48.01/nvlink-s.txt"),
      "nvlink -gt d": smiFixture("590.48.01/nvlink-gt-d.txt"),
    }[args.join(" ")] ??
    "";

describe("nvidia-smi-nvlink", () => {
  test("totals of the GPU, counters and state of every link", async () => {
    const { ctx } = fakeContext({ run: answers() });
    const reading = await nvidiaSmiNvlink.start().poll(ctx);
    const byKey = Object.fromEntries(reading.samples.map((s) => [s.entity.key, s]));
    expect(byKey[UUID]?.values).toEqual({ nvlink_tx_bytes_total: 14984232343 * 1024, nvlink_rx_bytes_total: 2005 * 1024 });
    expect(byKey[`nvlink:${UUID}/0`]).toEqual({
      entity: { kind: "link", node: NODE, key: `nvlink:${UUID}/0`, labels: { type: "nvlink", gpu: UUID } },
      ts_us: START_US,
      epoch: 0,
      values: { tx_bytes_total: 1000 * 1024, rx_bytes_total: 2000 * 1024, speed_bytes_per_s: 26.562e9, up: 1 },
    });
    expect(byKey[`nvlink:${UUID}/2`]?.values).toEqual({ up: 0 });
    expect(reading.samples).toHaveLength(4);
  });

  test("the state is read once a minute, the counters every time", async () => {
    const { ctx, calls, clock } = fakeContext({ run: answers() });
    const collector = nvidiaSmiNvlink.start();
    for (const second of [0, 2, 58, 61]) {
      clock.mono_us = second * 1e6;
      await collector.poll(ctx);
    }
    expect(calls.filter((c) => c.endsWith("nvlink -s"))).toHaveLength(2);
    expect(calls.filter((c) => c.endsWith("-gt d"))).toHaveLength(4);
  });

  test("one link without a number: no sum, the other links stay", async () => {
    const counters = `${GPU}\n\t Link 0: Data Tx: N/A\n\t Link 0: Data Rx: N/A\n\t Link 1: Data Tx: 3 KiB\n\t Link 1: Data Rx: 4 KiB\n`;
    const { ctx } = fakeContext({ run: answers({ "nvlink -gt d": counters }) });
    const reading = await nvidiaSmiNvlink.start().poll(ctx);
    expect(reading.samples.some((s) => s.entity.kind === "gpu")).toBe(false);
    expect(reading.samples.find((s) => s.entity.key.endsWith("/1"))?.values).toMatchObject({ tx_bytes_total: 3072, rx_bytes_total: 4096 });
    expect(reading.rejected).toEqual({ not_available: 1 });
  });

  test("no NVLink: said once, no counters asked for", async () => {
    const { ctx, calls } = fakeContext({ run: answers({ "nvlink -s": `${GPU}\nDevice does not have or support Nvlink\n` }) });
    expect(await nvidiaSmiNvlink.start().poll(ctx)).toEqual({ samples: [], notice: "Device does not have or support Nvlink" });
    expect(calls).toEqual(["nvidia-smi nvlink -s"]);
    expect(await nvidiaSmiNvlink.detect(ctx)).toEqual({ found: false, text: "Device does not have or support Nvlink" });
  });

  test("detect counts the links; without nvidia-smi it says so", async () => {
    expect(await nvidiaSmiNvlink.detect(fakeContext({ run: answers() }).ctx)).toEqual({ found: true, text: "2 active NVLinks" });
    expect(await nvidiaSmiNvlink.detect(fakeContext({}).ctx)).toMatchObject({ found: false, text: "nvidia-smi not found" });
  });

  test("a failing call is an error of this poll", async () => {
    const { ctx } = fakeContext({ run: () => ({ timedOut: true, exitCode: null }) });
    await expect(nvidiaSmiNvlink.start().poll(ctx)).rejects.toThrow("did not answer in time");
  });
});
