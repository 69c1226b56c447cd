import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIXTURES, importInto, temporaryFolder } from "../run-import.js";

const MIXED = path.join(FIXTURES, "openmetrics/mixed/telemetry.om");
let scratch: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  scratch = temporaryFolder();
});
afterEach(() => scratch.remove());

const write = (name: string, text: string): string => {
  const at = path.join(scratch.folder, name);
  fs.writeFileSync(at, text);
  return at;
};

describe("OpenMetrics text with time stamps", () => {
  it("becomes canonical samples of every source in it; bad lines are counted alone", async () => {
    const { sink, outcome } = await importInto([MIXED]);
    expect(outcome.files[0]).toMatchObject({ format: "openmetrics", requests: 0 });
    expect(outcome.files[0]?.rejected).toEqual({ sentinel: 1, syntax: 1, no_timestamp: 1, truncated: 1 });
    const rows = sink.sampleRows.map(({ source, row }) => [source.name, source.node, row.entity.key, row.ts_us, row.values]);
    expect(rows).toContainEqual(["dcgm-exporter", "node-a", "GPU-1", 1788436000997000, { power_w: 412.5, energy_j_total: 1234.567 }]);
    expect(rows).toContainEqual([
      "node_exporter",
      "node-a",
      "node-a",
      1788436001000000,
      expect.objectContaining({ cpu_user_s_total: 100.5, cpu_idle_s_total: 200 }),
    ]);
    expect(rows).toContainEqual(["vllm", "node-a", "vllm:llm-0/0", 1788436001500000, { waiting: 7, kv_usage_ratio: 0.5 }]);
    expect(rows).toContainEqual(["vllm", "node-a", "vllm:llm-0/0", 1788436002500000, { waiting: 8 }]);
    expect(sink.sampleRows.every(({ source }) => source.run === "r1")).toBe(true);
    expect(sink.facts).toMatchObject({ gpu_model: "NVIDIA H100 80GB HBM3" });
    expect(outcome.range).toEqual({ start_us: 1788436000997000, end_us: 1788436002500000 });
  });

  it("also as Prometheus text 0.0.4, whose stamps are milliseconds", async () => {
    const { sink } = await importInto([write("a.prom", 'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1"} 60 1788436000997\n')], { node: "n1" });
    expect(sink.sampleRows[0]?.row).toMatchObject({ ts_us: 1788436000997000, entity: { node: "n1" }, values: { temp_c: 60 } });
  });

  it("without any time stamp is refused with one clear line", async () => {
    const page = write("page.prom", '# HELP DCGM_FI_DEV_GPU_TEMP x\nDCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1"} 60\n');
    await expect(importInto([page])).rejects.toMatchObject({ code: "FILE_FORMAT", message: expect.stringContaining("no time stamps") });
  });

  it("of metrics that nobody knows is told so", async () => {
    const { outcome } = await importInto([write("a.om", "foo_bar 1 1788436000.997\n# EOF\n")]);
    expect(outcome.files[0]).toMatchObject({ samples: 0, warnings: ["none of its metrics is known"] });
    expect(outcome.range).toBeNull();
  });
});
