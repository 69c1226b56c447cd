import { describe, expect, test } from "vitest";
import { nvidiaSmiQuery } from "../../collectors/nvidia-smi-query.js";
import { SMI_QUERY } from "../../schemas/maps/nvidia-smi.js";
import { smiFixture } from "../text/nvidia-smi-fixtures.js";
import { collect, fakeContext, linesOf, NODE, START_US } from "./nvidia-smi-context.js";

const S = 1_000_000;
const UUID = (n: number): string => `GPU-aaaaaaaa-0000-4000-8000-00000000000${n}`;
const help = SMI_QUERY.map((names) => `"${names[0]}"`).join("\n");
const asked = (call: string): string[] => /--query-gpu=(\S+)/.exec(call)?.[1]?.split(",") ?? [];

/** Rows of two GPUs a second apart; `cells` = utilization and temperature. */
const row = (second: number, gpu: number, util: string, temp = "50"): string =>
  `2026/05/04 10:00:${String(second).padStart(2, "0")}.000, ${gpu}, ${UUID(gpu)}, ${util}, ${temp}`;
const HEADER = "timestamp, index, uuid, utilization.gpu [%], temperature.gpu";

describe("nvidia-smi-query", () => {
  test("one reading a cycle, keyed by uuid, labelled, at the time of receipt", async () => {
    const text = smiFixture("590.48.01/query-gpu-2x-h100-nounits.csv");
    const lines = linesOf(text, (i) => START_US + Math.floor(Math.max(0, i - 1) / 2) * S + 150_000 + i);
    const { ctx, calls } = fakeContext({ run: () => help, streams: [{ lines }] });
    const { readings, emit } = collect();
    await nvidiaSmiQuery.stream(ctx, emit);
    expect(calls[0]).toBe("nvidia-smi --help-query-gpu");
    expect(asked(calls[1]!)).toEqual(SMI_QUERY.map((names) => names[0]));
    expect(calls[1]).toMatch(/ --format=csv,nounits -lms 1000$/);
    expect(readings.map((r) => r.samples.map((s) => s.entity.key))).toEqual([
      [UUID(0), UUID(1)],
      [UUID(1), UUID(0)],
      [UUID(0), UUID(1)],
    ]);
    const sample = readings[0]!.samples[0]!;
    expect(sample.entity).toEqual({
      kind: "gpu",
      node: NODE,
      key: UUID(0),
      labels: { index: "0", model: "NVIDIA H100 80GB HBM3", pci_bus_id: "00000000:10:00.0" },
    });
    expect(sample.ts_us).toBe(lines[1]!.received_us);
    expect(sample.values).toMatchObject({ power_w: 612.5, gpu_util_ratio: 0.97, clocks_event_mask: 4, throttle_power_s_total: 3 });
    expect(readings.every((r) => r.notice === null && Object.keys(r.rejected ?? {}).length === 0)).toBe(true);
  });

  test("asks only what the driver knows, by the driver's own spelling", async () => {
    const { ctx, calls } = fakeContext({ run: () => smiFixture("470.82.01/help-query-gpu.txt"), streams: [{ lines: [] }] });
    await expect(nvidiaSmiQuery.stream(ctx, () => {})).rejects.toThrow("ended without a row");
    expect(asked(calls[1]!)).toEqual(["timestamp", "uuid", "power.draw", "clocks_throttle_reasons.active"]);
  });

  test("a refused field is dropped and the program started again at once; the rest is not lost", async () => {
    const refuse = (field: string) => ({
      lines: linesOf(`Field "${field}" is not a valid field to query.\n\n`, () => START_US),
      end: { exitCode: 2 },
      stays: true,
    });
    const good = { lines: linesOf(`${HEADER}\n${row(0, 0, "7")}\n`, () => START_US + S) };
    const { ctx, calls, kills } = fakeContext({
      run: () => ({ timedOut: true, exitCode: null }),
      streams: [refuse("power.draw.instant"), refuse("clocks_event_reasons.active"), good],
    });
    const { readings, emit } = collect();
    await nvidiaSmiQuery.stream(ctx, emit);
    expect(asked(calls[1]!)).toContain("power.draw.instant");
    expect(asked(calls[2]!)).not.toContain("power.draw.instant");
    expect(asked(calls[3]!)).toContain("clocks_throttle_reasons.active");
    expect(kills()).toBeGreaterThanOrEqual(2);
    expect(readings[0]!.samples[0]!.values).toEqual({ gpu_util_ratio: 0.07, temp_c: 50 });
  });

  test("a refusal of something that was not asked for ends it: no endless loop", async () => {
    const { ctx } = fakeContext({
      run: () => help,
      streams: [{ lines: linesOf('Field "x" is not a valid field to query.\n', () => START_US), end: { exitCode: 2 } }],
    });
    await expect(nvidiaSmiQuery.stream(ctx, () => {})).rejects.toThrow('Field "x"');
  });

  test("what the program says on stdout is the error, not its status", async () => {
    const { ctx } = fakeContext({
      run: () => help,
      streams: [{ lines: linesOf(smiFixture("messages/version-mismatch.txt"), () => START_US), end: { exitCode: 0 } }],
    });
    await expect(nvidiaSmiQuery.stream(ctx, () => {})).rejects.toThrow(/version mismatch \(.*reboot/);
  });

  test("a GPU that turns to [Unknown Error] is marked once and, after three cycles, the loop is ended", async () => {
    const bad = "[Unknown Error]";
    const text = [HEADER];
    for (let i = 0; i < 9; i++) text.push(row(i, 0, "90"), row(i, 1, i < 3 ? "80" : bad, i < 3 ? "50" : bad));
    const { ctx, kills } = fakeContext({
      run: () => help,
      streams: [{ lines: linesOf(`${text.join("\n")}\n`, (i) => START_US + Math.floor((i - 1) / 2) * S + 1000), stays: true }],
    });
    const { readings, emit } = collect();
    await expect(nvidiaSmiQuery.stream(ctx, emit)).rejects.toThrow(`GPU ${UUID(1)}: unknown error: starting nvidia-smi afresh`);
    expect(kills()).toBe(1);
    expect(readings).toHaveLength(6);
    expect(readings.map((r) => r.samples.length)).toEqual([2, 2, 2, 1, 1, 1]);
    expect(readings.flatMap((r) => r.marks ?? [])).toEqual([
      { ts_us: START_US + 3 * S + 1000, node: NODE, kind: "gpu_fault", text: `GPU ${UUID(1)}: unknown error` },
    ]);
    expect(readings[3]).toMatchObject({ rejected: { unknown_error: 1 }, notice: `GPU ${UUID(1)}: unknown error` });
  });

  test("a GPU that was broken from the start does not end the loop again and again", async () => {
    const text = [HEADER];
    for (let i = 0; i < 9; i++) text.push(row(i, 0, "90"), row(i, 1, "[GPU requires reset]", "[GPU requires reset]"));
    const { ctx, kills } = fakeContext({
      run: () => help,
      streams: [{ lines: linesOf(`${text.join("\n")}\n`, (i) => START_US + i * (S / 2)) }],
    });
    const { readings, emit } = collect();
    await nvidiaSmiQuery.stream(ctx, emit);
    expect(kills()).toBe(0);
    expect(readings.flatMap((r) => r.samples)).toHaveLength(9);
    expect(readings.flatMap((r) => r.marks ?? [])).toHaveLength(1);
  });

  test("a lost GPU between good rows is marked once, rows with the wrong number of cells are counted", async () => {
    const lost = "Unable to determine the device handle for GPU0000:17:00.0: Unknown Error";
    const text = [HEADER, row(0, 0, "90"), lost, row(1, 0, "91"), lost, "2026/05/04 10:00:01.000, 0", row(2, 0, "92")].join("\n");
    const { ctx } = fakeContext({
      run: () => help,
      streams: [{ lines: linesOf(`${text}\n`, (i) => START_US + i * (S / 2)), end: { exitCode: 15 } }],
    });
    const { readings, emit } = collect();
    await nvidiaSmiQuery.stream(ctx, emit);
    expect(readings.flatMap((r) => r.samples.map((s) => s.values["gpu_util_ratio"]))).toEqual([0.9, 0.91, 0.92]);
    expect(readings.flatMap((r) => (r.marks ?? []).map((m) => m.text))).toEqual([lost]);
    expect(readings.reduce((n, r) => n + (r.rejected?.["cell_count"] ?? 0), 0)).toBe(1);
  });

  test("held-back rows are spread by their own spacing, then the program is started under stdbuf", async () => {
    const burst = Array.from({ length: 20 }, (_, i) => row(i, 0, String(i)));
    const held = { lines: linesOf(`${[HEADER, ...burst].join("\n")}\n`, () => START_US + 20 * S), stays: true };
    const prompt = { lines: linesOf(`${HEADER}\n${row(31, 0, "55")}\n`, () => START_US + 31 * S + 2000) };
    const { ctx, calls } = fakeContext({ run: () => help, streams: [held, prompt] });
    const { readings, emit } = collect();
    await nvidiaSmiQuery.stream(ctx, emit);
    const samples = readings.flatMap((r) => r.samples);
    expect(samples.length).toBeGreaterThanOrEqual(9);
    samples.slice(0, -1).forEach((sample, i) => {
      expect(sample.ts_us).toBe(START_US + i * S + 500); // the middle of the stamp's millisecond
      expect(sample.values["gpu_util_ratio"]).toBeCloseTo(i / 100, 9);
    });
    expect(samples.at(-1)?.ts_us).toBe(START_US + 31 * S + 2000);
    expect(readings[0]!.notice).toMatch(/arrives 20\.0 s late/);
    expect(readings.at(-1)!.notice).toBeNull();
    expect(calls.at(-1)).toMatch(/^stdbuf -oL nvidia-smi --query-gpu=/);
  });

  test("without stdbuf the plain program goes on", async () => {
    const burst = Array.from({ length: 20 }, (_, i) => row(i, 0, String(i)));
    const held = { lines: linesOf(`${[HEADER, ...burst].join("\n")}\n`, () => START_US + 20 * S) };
    const { ctx, calls } = fakeContext({ run: () => help, streams: [held, { lines: [], end: { notFound: true, exitCode: null } }, held] });
    const { readings, emit } = collect();
    await nvidiaSmiQuery.stream(ctx, emit);
    expect(calls.slice(1).map((call) => call.split(" ")[0])).toEqual(["nvidia-smi", "stdbuf", "nvidia-smi"]);
    expect(readings.at(-1)!.samples[0]!.values).toMatchObject({ gpu_util_ratio: 0.19 });
  });

  test("an abort kills the program and ends quietly", async () => {
    const { ctx, abort, kills } = fakeContext({
      run: () => help,
      streams: [{ lines: linesOf(`${HEADER}\n${row(0, 0, "1")}\n${row(1, 0, "2")}\n`, (i) => START_US + i * S), stays: true }],
    });
    const { readings, emit } = collect();
    await nvidiaSmiQuery.stream(ctx, (reading) => {
      emit(reading);
      abort.abort();
    });
    expect(kills()).toBeGreaterThanOrEqual(1);
    expect(readings.length).toBeGreaterThanOrEqual(1);
  });

  test("rubbish is counted and given up, not waited for", async () => {
    const { ctx, kills } = fakeContext({
      run: () => help,
      streams: [{ lines: linesOf("\u0000\ufffd,,\n".repeat(30), () => START_US), stays: true }],
    });
    const { readings, emit } = collect();
    await expect(nvidiaSmiQuery.stream(ctx, emit)).rejects.toThrow("cannot be read");
    expect(kills()).toBe(1);
    expect(readings).toEqual([{ samples: [], marks: [], rejected: { no_header: 20 }, notice: null }]);
  });

  test("asks no faster than NVML refreshes", async () => {
    const { ctx, calls } = fakeContext({ run: () => help, interval_ms: 10, streams: [{ lines: [] }] });
    await expect(nvidiaSmiQuery.stream(ctx, () => {})).rejects.toThrow();
    expect(calls[1]).toMatch(/-lms 100$/);
  });
});

describe("detect", () => {
  test("what is there", async () => {
    const { ctx } = fakeContext({ run: () => smiFixture("590.48.01/list.txt") });
    expect(await nvidiaSmiQuery.detect(ctx)).toEqual({ found: true, text: "2 x NVIDIA H100 80GB HBM3" });
  });

  test("no program, no driver", async () => {
    expect(await nvidiaSmiQuery.detect(fakeContext({}).ctx)).toMatchObject({ found: false, text: "nvidia-smi not found" });
    const { ctx } = fakeContext({ run: () => ({ stdout: smiFixture("messages/no-driver.txt"), exitCode: 9 }) });
    expect(await nvidiaSmiQuery.detect(ctx)).toMatchObject({ found: false, mend: "load or install the NVIDIA driver" });
  });

  test("good GPUs beside a lost one", async () => {
    const lost = "Unable to determine the device handle for GPU0000:17:00.0: Unknown Error";
    const { ctx } = fakeContext({ run: () => ({ stdout: `${smiFixture("590.48.01/list.txt")}${lost}\n`, exitCode: 15 }) });
    expect(await nvidiaSmiQuery.detect(ctx)).toEqual({ found: true, text: `2 x NVIDIA H100 80GB HBM3; ${lost}` });
  });
});
