import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

const file = (name: string) => path.join(FIXTURES, "nvidia-smi-csv/590", name);
const G1 = "GPU-00000001-0000-4000-8000-000000000001";
const G2 = "GPU-00000002-0000-4000-8000-000000000002";

describe("logs of nvidia-smi --query-gpu", () => {
  it("in local time: the hour that the end of summer time shows twice is read in the order of the rows", async () => {
    const { sink, outcome } = await importInto([file("two-gpus.csv")], { node: "n1", clock: { zone: "Europe/Berlin" } });
    expect(outcome.files[0]).toMatchObject({ format: "nvidia-smi-csv", samples: 4, marks: 1 });
    expect(sink.sampleRows.map(({ row }) => [row.entity.key, new Date(row.ts_us / 1000).toISOString()])).toEqual([
      [G1, "2026-10-25T00:30:00.100Z"],
      [G2, "2026-10-25T00:30:00.110Z"],
      [G1, "2026-10-25T00:59:59.900Z"],
      [G1, "2026-10-25T01:00:00.900Z"],
    ]);
    expect(outcome.files[0]!.warnings.join()).toBe("its local times were read in zone Europe/Berlin");
  });

  it("keeps good cells beside bad ones, and trusts no number of a broken GPU", async () => {
    const { sink, outcome } = await importInto([file("two-gpus.csv")], { node: "n1", clock: { zone: "UTC" } });
    expect(sink.sampleRows[0]).toMatchObject({
      source: { name: "nvidia-smi-query", node: "n1", run: "r1" },
      row: { entity: { kind: "gpu", node: "n1", key: G1, labels: { index: "0", model: "NVIDIA H100 80GB HBM3" } } },
    });
    expect(sink.sampleRows[0]!.row.values).toEqual({
      gpu_util_ratio: 0.97,
      fb_used_bytes: 71_000 * 2 ** 20,
      power_w: 640.5,
      sm_clock_mhz: 1980,
      temp_c: 61,
    });
    expect(sink.sampleRows[1]!.row.values).toEqual({ fb_used_bytes: 71_000 * 2 ** 20, power_w: 434, sm_clock_mhz: 1980, temp_c: 58 });
    expect(sink.markRows).toEqual([
      { ts_us: Date.UTC(2026, 9, 25, 2, 0, 0, 910) * 1000, node: "n1", kind: "gpu_fault", text: `GPU ${G2}: requires reset` },
    ]);
    expect(outcome.files[0]!.rejected).toEqual({ not_available: 1, device_lost: 1, requires_reset: 1, truncated: 1 });
  });

  it("without a zone: this machine's, and the summary says so; InferenceX names a GPU by its index", async () => {
    const { sink, outcome } = await importInto([file("inferencex.csv")]);
    expect(outcome.files[0]!.warnings.join()).toMatch(/name no zone: read in .+, this machine's; give --zone/);
    expect(sink.sampleRows.map(({ row }) => row.entity.key)).toEqual(["index:0", "index:0"]);
    expect(sink.sampleRows[0]!.row.values).toMatchObject({ power_w: 631.95, mem_util_ratio: 0.11, mem_clock_mhz: 2619 });
  });

  it("without a header: told, and read once the columns are named", async () => {
    const bare = await importInto([file("no-header.csv")]);
    expect(bare.outcome.files[0]).toMatchObject({ samples: 0, rejected: { no_header: 2 } });
    expect(bare.outcome.files[0]!.warnings.join()).toContain("--columns");
    const named = await importInto([file("no-header.csv")], {
      columns: ["timestamp", "index", "power.draw", "temperature.gpu"],
      clock: { zone: "UTC" },
    });
    expect(named.sink.sampleRows.map(({ row }) => [row.ts_us, row.values])).toEqual([
      [Date.UTC(2026, 6, 14, 8, 12, 53, 353) * 1000, { power_w: 631.95, temp_c: 61 }],
      [Date.UTC(2026, 6, 14, 8, 12, 54, 353) * 1000, { power_w: 630, temp_c: 61 }],
    ]);
  });
});
