import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { dcgmExporter } from "../../collectors/dcgm-exporter.js";
import { pageContext, START_US } from "./page-context.js";

const fixture = (file: string): string => readFileSync(new URL(`../fixtures/dcgm-exporter/${file}`, import.meta.url), "utf8");

const PAGE = "http://127.0.0.1:9400/metrics";

interface Gpu {
  readonly xid?: number;
  readonly power?: number;
  readonly sm?: number | null;
}

/** A page of GPUs `GPU-NAME` with the given readings. */
const pageOf = (gpus: Record<string, Gpu>): string =>
  Object.entries(gpus)
    .flatMap(([name, { xid, power = 300, sm = 0.5 }]) => [
      `DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-${name}"} ${power}`,
      ...(xid === undefined ? [] : [`DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-${name}"} ${xid}`]),
      ...(sm === null ? [] : [`DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-${name}"} ${sm}`]),
    ])
    .map((line) => `${line}\n`)
    .join("");

function polling() {
  const context = pageContext();
  const instance = dcgmExporter.start();
  return {
    ...context,
    show: (page: Parameters<typeof context.answer>[1]) => {
      context.answer(PAGE, page);
      return context.poll(instance);
    },
  };
}

describe("dcgm-exporter", () => {
  it("reads a page into one sample a GPU on the agent's node, stamped when the page was there", async () => {
    const { show } = polling();
    const reading = await show(fixture("4.8/two-gpus.prom"));
    expect(reading.samples.map((s) => [s.entity.kind, s.entity.node, s.entity.key, s.ts_us, s.epoch])).toEqual([
      ["gpu", "node-x", "GPU-33333333-0000-4000-8000-000000000000", START_US + 1_020_000, 3],
      ["gpu", "node-x", "GPU-33333333-0000-4000-8000-000000000001", START_US + 1_020_000, 3],
    ]);
    expect(reading.samples[0]!.values).toMatchObject({ sm_active_ratio: 0.912, power_w: 631.95, energy_j_total: 5_551_899.58 });
    expect(reading.manifest).toEqual({ driver_version: "580.105.08", gpu_model: "NVIDIA H100 80GB HBM3" });
    expect(reading.rejected).toEqual({ unsupported: 1 });
    expect(reading.marks).toEqual([]);
    expect(reading.notice).toBeNull();
  });

  it("counts lines that are none, and keeps the others", async () => {
    const { show } = polling();
    const reading = await show(fixture("2.0/blanks.prom"));
    expect(reading.samples[0]!.values).toMatchObject({ sm_clock_mhz: 139 });
    expect(reading.rejected).toEqual({ value: 1, syntax: 2, sentinel: 4, range: 1 });
  });

  it("drops the last line of a cut page and does not call the rest lost", async () => {
    const { show } = polling();
    const whole = pageOf({ a: {}, b: {} });
    for (let i = 0; i < 4; i++) await show(whole);
    const cut = whole.slice(0, whole.indexOf("GPU-b") + 9);
    for (let i = 0; i < 4; i++) {
      const reading = await show({ body: cut, truncated: i % 2 === 0 });
      expect(reading.rejected).toEqual({ truncated: 1 });
      expect(reading.samples.map((s) => s.entity.key)).toEqual(["GPU-a"]);
      expect(reading.notice).toContain("cut");
      expect(reading.marks).toEqual([]);
    }
  });

  it("rejects on an error status and on no connection, and reads on afterwards", async () => {
    const { show } = polling();
    await expect(show({ status: 500, body: "gather failed" })).rejects.toThrow("answered 500");
    await expect(show(new Error("connect ECONNREFUSED"))).rejects.toThrow("ECONNREFUSED");
    expect((await show(pageOf({ a: {} }))).samples).toHaveLength(1);
  });

  it("takes an empty page as no metrics yet", async () => {
    const { show } = polling();
    const reading = await show("");
    expect([reading.samples, reading.notice]).toEqual([[], "empty page: the exporter is starting or reloading"]);
  });

  it("marks an XID that appears or changes, never the one that was there at first sight", async () => {
    const { show } = polling();
    const marks = async (page: string) => ((await show(page)).marks ?? []).map((m) => [m.kind, m.node, m.text]);
    expect(await marks(pageOf({ a: { xid: 31 }, b: {} }))).toEqual([]);
    expect(await marks(pageOf({ a: { xid: 31 }, b: { xid: 79 } }))).toEqual([["xid", "node-x", "XID 79 on GPU-b"]]);
    expect(await marks(pageOf({ a: { xid: 43 }, b: { xid: 79 } }))).toEqual([["xid", "node-x", "XID 43 on GPU-a"]]);
    expect(await marks(pageOf({ a: { xid: 0 }, b: { xid: 79 } }))).toEqual([]);
  });

  it("marks one XID once, though every MIG instance repeats it", async () => {
    const { show } = polling();
    const rows = (xid: number) => [3, 4, 5].map((id) => `DCGM_FI_DEV_XID_ERRORS{UUID="GPU-a",GPU_I_ID="${id}"} ${xid}\n`).join("");
    await show(rows(0));
    expect((await show(rows(48))).marks).toMatchObject([{ text: "XID 48 on GPU-a" }]);
  });

  it("calls a GPU lost after three whole pages without it, once, until it is back", async () => {
    const { show } = polling();
    for (let i = 0; i < 3; i++) await show(pageOf({ a: { power: i }, b: { power: i } }));
    const after: [number, string | null][] = [];
    for (let i = 0; i < 4; i++) {
      const reading = await show(pageOf({ a: { power: 10 + i } }));
      after.push([reading.marks!.length, reading.notice ?? null]);
    }
    expect(after).toEqual([
      [0, null],
      [0, null],
      [1, "device_lost: GPU-b"],
      [0, "device_lost: GPU-b"],
    ]);
    expect((await show(pageOf({ a: { power: 20 }, b: {} }))).notice).toBeNull();
  });

  it("says when profiling fields were never there, and when they vanish", async () => {
    const { show } = polling();
    expect((await show(pageOf({ a: { sm: null } }))).notice).toContain("profiling fields absent");
    expect((await show(pageOf({ a: {} }))).notice).toBeNull();
    expect((await show(pageOf({ a: { sm: null, power: 5 } }))).notice).toContain("profiling fields vanished");
  });

  it("finds the exporter's true interval from values that stand still, and says how to shorten it", async () => {
    const { show } = polling();
    const notices: (string | null)[] = [];
    for (let i = 0; i < 70; i++) notices.push((await show(pageOf({ a: { power: 300 + Math.floor(i / 30) } }))).notice ?? null);
    expect(notices[5]).toBeNull();
    expect(notices[31]).toContain("values change only every 30 s");
    expect(notices[69]).toContain("values change only every 30 s");
    for (let i = 0; i < 3; i++) notices.push((await show(pageOf({ a: { power: 400 + i } }))).notice ?? null);
    expect(notices.at(-1)).toBeNull();
  });

  it("detects the exporter, and tells how to switch on what is missing", async () => {
    const { ctx, answer } = pageContext({ url: "http://gpu:9400/" });
    expect(await dcgmExporter.detect(ctx)).toMatchObject({ found: false, text: expect.stringContaining("ECONNREFUSED") as string });
    answer("http://gpu:9400/metrics", "node_load1 3\n");
    expect((await dcgmExporter.detect(ctx)).found).toBe(false);
    answer("http://gpu:9400/metrics", pageOf({ a: { sm: null } }));
    expect(await dcgmExporter.detect(ctx)).toMatchObject({
      found: true,
      mend: expect.stringContaining("--collect-interval 1000") as string,
    });
    answer("http://gpu:9400/metrics", pageOf({ a: {} }));
    expect(await dcgmExporter.detect(ctx)).toEqual({ found: true, text: "dcgm-exporter at http://gpu:9400/metrics" });
  });
});
