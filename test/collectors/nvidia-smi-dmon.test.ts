import { describe, expect, test } from "vitest";
import { nvidiaSmiDmon } from "../../collectors/nvidia-smi-dmon.js";
import { smiFixture } from "../text/nvidia-smi-fixtures.js";
import { collect, fakeContext, linesOf, START_US } from "./nvidia-smi-context.js";

const S = 1_000_000;
const MIB = 1024 * 1024;
const UUID = (n: number): string => `GPU-aaaaaaaa-0000-4000-8000-00000000000${n}`;
const list = smiFixture("590.48.01/list.txt");
const pcie = "# gpu  rxpci  txpci \n# Idx   MB/s   MB/s \n    0    248     34 \n    1    100     50 \n    0    249     35 \n";

describe("nvidia-smi-dmon", () => {
  test("GPM where the GPU has it, joined to the uuid by index", async () => {
    const lines = linesOf(smiFixture("590.48.01/dmon-gpm.txt"), (i) => START_US + i * (S / 2));
    const { ctx, calls } = fakeContext({ run: () => list, streams: [{ lines }] });
    const { readings, emit } = collect();
    await nvidiaSmiDmon.stream(ctx, emit);
    expect(calls).toEqual(["nvidia-smi -L", "nvidia-smi dmon --gpm-metrics=1,2,3,5,10,20,21,60,61 -d 1 -o DT"]);
    const samples = readings.flatMap((r) => r.samples);
    expect(samples.map((s) => s.entity.key)).toEqual([UUID(0), UUID(1), UUID(0)]);
    expect(samples[0]!.entity.labels).toEqual({ index: "0", model: "NVIDIA H100 80GB HBM3" });
    expect(samples[1]!.values).toEqual({
      gr_engine_active_ratio: 0.98,
      sm_active_ratio: 0.87,
      sm_occupancy_ratio: 0.29,
      tensor_active_ratio: 0.56,
      dram_active_ratio: 0.6,
      pcie_tx_bytes_per_s: 101 * MIB,
      pcie_rx_bytes_per_s: 201 * MIB,
      nvlink_rx_bytes_per_s: 301 * MIB,
      nvlink_tx_bytes_per_s: 401 * MIB,
    });
    expect(readings.reduce((n, r) => n + (r.rejected?.["cell_count"] ?? 0), 0)).toBe(1);
  });

  test("after five rows of dashes on every GPU it stops asking and reads PCIe", async () => {
    const header = "# gpu    pwr      gract     smutil \n# Idx      W      GPM:%      GPM:% \n";
    const empty = Array.from({ length: 20 }, (_, i) => `    ${i % 2}    360          –          –`).join("\n");
    const { ctx, calls, kills } = fakeContext({
      run: () => list,
      streams: [
        { lines: linesOf(`${header}${empty}\n`, (i) => START_US + Math.floor(i / 2) * S), stays: true },
        { lines: linesOf(pcie, (i) => START_US + 30 * S + Math.floor(i / 2) * S) },
      ],
    });
    const { readings, emit } = collect();
    await nvidiaSmiDmon.stream(ctx, emit);
    expect(kills()).toBe(1);
    expect(calls.at(-1)).toBe("nvidia-smi dmon -s t -d 1 -o DT");
    const empties = readings.filter((r) => r.samples.length === 0);
    expect(empties).toHaveLength(5);
    const samples = readings.flatMap((r) => r.samples);
    expect(samples.map((s) => s.values)).toEqual([
      { pcie_rx_bytes_per_s: 248 * MIB, pcie_tx_bytes_per_s: 34 * MIB },
      { pcie_rx_bytes_per_s: 100 * MIB, pcie_tx_bytes_per_s: 50 * MIB },
      { pcie_rx_bytes_per_s: 249 * MIB, pcie_tx_bytes_per_s: 35 * MIB },
    ]);
    expect(readings.at(-1)!.notice).toMatch(/20 ms samples/);
  });

  test("one GPU with GPM is enough to go on", async () => {
    const header = "# gpu    pwr      gract     smutil \n# Idx      W      GPM:%      GPM:% \n";
    const mixed = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? "    0    360    5    6" : "    1    360    -    -")).join("\n");
    const { ctx, calls } = fakeContext({
      run: () => list,
      streams: [{ lines: linesOf(`${header}${mixed}\n`, (i) => START_US + Math.floor(i / 2) * S) }],
    });
    const { readings, emit } = collect();
    await nvidiaSmiDmon.stream(ctx, emit);
    expect(calls).toHaveLength(2);
    expect(readings.flatMap((r) => r.samples)).toHaveLength(10);
  });

  test.each([
    ["Option --gpm-metrics=1 is not recognized. Please run 'nvidia-smi -h'.\n", 2],
    [smiFixture("messages/dmon-refused.txt"), 3],
  ])("a driver without GPM: %j", async (said, exitCode) => {
    const { ctx, calls } = fakeContext({
      run: () => list,
      streams: [{ lines: linesOf(said, () => START_US), end: { exitCode } }, { lines: linesOf(pcie, (i) => START_US + i * S) }],
    });
    const { readings, emit } = collect();
    await nvidiaSmiDmon.stream(ctx, emit);
    expect(calls.at(-1)).toBe("nvidia-smi dmon -s t -d 1 -o DT");
    expect(readings.flatMap((r) => r.samples)).toHaveLength(3);
  });

  test("a GPU that dmon refuses altogether is an error, once", async () => {
    const refused = { lines: linesOf(smiFixture("messages/dmon-refused.txt"), () => START_US), end: { exitCode: 3 } };
    const { ctx } = fakeContext({ run: () => list, streams: [refused, refused] });
    await expect(nvidiaSmiDmon.stream(ctx, () => {})).rejects.toThrow("Not supported on the device(s)");
  });

  test("an index that -L did not name is counted, not guessed", async () => {
    const { ctx } = fakeContext({
      run: () => list,
      streams: [{ lines: linesOf("# gpu gract\n# Idx GPM:%\n 7 55\n 0 44\n", () => START_US) }],
    });
    const { readings, emit } = collect();
    await nvidiaSmiDmon.stream(ctx, emit);
    expect(readings).toHaveLength(1);
    expect(readings[0]).toMatchObject({ rejected: { unknown_gpu: 1 }, samples: [{ values: { gr_engine_active_ratio: 0.44 } }] });
  });

  test("no GPU", async () => {
    await expect(nvidiaSmiDmon.stream(fakeContext({}).ctx, () => {})).rejects.toThrow("nvidia-smi not found");
    expect(await nvidiaSmiDmon.detect(fakeContext({}).ctx)).toMatchObject({ found: false, text: "nvidia-smi not found" });
  });
});
