import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

const file = (name: string) => path.join(FIXTURES, "nvidia-smi-dmon/590", name);

describe("logs of nvidia-smi dmon", () => {
  it("with date and time: columns by name, repeated headers skipped, a cut row refused", async () => {
    const { sink, outcome } = await importInto([file("date-and-time.txt")], { clock: { zone: "Europe/Berlin" } });
    expect(outcome.files[0]).toMatchObject({ format: "nvidia-smi-dmon", samples: 3, rejected: { cell_count: 1, not_available: 2 } });
    const at = Date.UTC(2026, 8, 3, 9, 7, 54) * 1000;
    expect(sink.sampleRows.map(({ row }) => [row.entity.key, row.ts_us])).toEqual([
      ["index:0", at],
      ["index:1", at],
      ["index:0", at + 1e6],
    ]);
    expect(sink.sampleRows[0]!.row.values).toMatchObject({ power_w: 631, gpu_util_ratio: 1, pcie_rx_bytes_per_s: 2 ** 20 });
    expect(sink.sampleRows[1]!.row.values.gpu_util_ratio).toBeUndefined();
  });

  it("with the time alone: the day comes from the anchor and goes on after midnight; without one, refused", async () => {
    const bare = await importInto([file("time-only.txt")]);
    expect(bare.outcome.files[0]).toMatchObject({ samples: 0, rejected: { no_date: 2 } });
    expect(bare.outcome.files[0]!.warnings.join()).toContain("--anchor");
    const { sink } = await importInto([file("time-only.txt")], { clock: { anchor: Date.UTC(2026, 8, 3, 12) * 1000, zone: "UTC" } });
    expect(sink.sampleRows.map(({ row }) => new Date(row.ts_us / 1000).toISOString())).toEqual([
      "2026-09-03T23:59:59.000Z",
      "2026-09-04T00:00:00.000Z",
    ]);
  });
});
