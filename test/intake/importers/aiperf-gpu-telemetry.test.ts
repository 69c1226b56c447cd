import path from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

const file = (version: string) => path.join(FIXTURES, "aiperf", version, "gpu_telemetry_export.jsonl");

describe("AIPerf GPU telemetry", () => {
  it("with the old keys: units, nanoseconds of power violation, a blank sentinel refused alone", async () => {
    const { sink, outcome } = await importInto([file("2025-10")]);
    expect(outcome.files[0]).toMatchObject({ format: "aiperf-gpu-telemetry", samples: 2, rejected: { range: 1 } });
    const [first, second] = sink.sampleRows;
    expect(first?.source).toMatchObject({ name: "aiperf-gpu-telemetry", node: "node1", run: "r1" });
    expect(first?.row).toMatchObject({
      ts_us: 1759522419333000,
      entity: {
        kind: "gpu",
        node: "node1",
        key: "GPU-ef6ef310-0000-4000-8000-000000000000",
        labels: { index: "0", model: "NVIDIA H100 80GB HBM3", pci_bus_id: "00000000:10:00.0" },
      },
    });
    expect(first?.row.values).toEqual({
      power_w: 412.5,
      energy_j_total: 123_456_000,
      gpu_util_ratio: 0.97,
      fb_used_bytes: 72.5e9,
      temp_c: 61,
      sm_active_ratio: expect.closeTo(0.885, 12),
      xid: 0,
      throttle_power_s_total: expect.closeTo(2.5, 12),
    });
    expect(second?.row.values).toEqual({ temp_c: 62 });
  });

  it("with the new keys: microseconds of power violation, no SM activity from pynvml, rows without a UUID refused", async () => {
    const { sink, outcome } = await importInto([file("0.14")], { node: "given" });
    expect(outcome.files[0]).toMatchObject({ samples: 2, rejected: { gpu_uuid: 1 } });
    const [dcgm, pynvml] = sink.sampleRows.map(({ row }) => row);
    expect(dcgm?.entity).toMatchObject({ node: "node2", labels: { pod: "llm-0", namespace: "llm" } });
    expect(dcgm?.values).toMatchObject({ throttle_power_s_total: 1.5, sm_active_ratio: 0.45, mem_util_ratio: 0.25, energy_j_total: 1.5e6 });
    expect(pynvml?.entity.node).toBe("given");
    expect(pynvml?.values).toEqual({ power_w: 311 });
  });
});
