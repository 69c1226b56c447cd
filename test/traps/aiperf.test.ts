import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Report } from "../../schemas/index.js";
import { cli } from "../cli/run-in-process.js";
import { importInto, temporaryFolder } from "../intake/run-import.js";

let scratch: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  scratch = temporaryFolder();
});
afterEach(() => scratch.remove());

const write = (name: string, lines: readonly unknown[], tail = "\n"): string => {
  const at = path.join(scratch.folder, name);
  fs.writeFileSync(at, lines.map((l) => (typeof l === "string" ? l : JSON.stringify(l))).join("\n") + tail);
  return at;
};
const NS = "1781000000123456789";
/** A record as text, because a number of nanoseconds does not survive JSON.stringify. */
const record = (metadata: string, metrics: string, rest = '"error":null'): string =>
  `{"metadata":{"x_request_id":"r-${metadata.length}-${metrics.length}",${metadata}},"metrics":{${metrics}},${rest}}`;
const metric = (tag: string, value: unknown, unit: string): string => `"${tag}":${JSON.stringify({ value, unit })}`;

describe("traps of the AIPerf importers", () => {
  it("trap aiperf 1: both generations of metadata, metric tags and telemetry keys", async () => {
    const records = write("records.jsonl", [
      record(`"request_start_ns":${NS},"benchmark_phase":"profiling"`, metric("time_to_first_token", 250, "ms")),
      record(`"timestamp_ns":${NS},"credit_phase":"profiling"`, metric("ttft", 250, "ms")),
    ]);
    const gpus = write("gpu.jsonl", [
      {
        timestamp_ns: 1781000000000000000,
        telemetry_source_url: "http://n1:9401/metrics",
        gpu_index: 0,
        gpu_uuid: "GPU-1",
        telemetry_data: { nvidia_power_usage: 400 },
      },
      {
        timestamp_ns: 1781000001000000000,
        dcgm_url: "http://n1:9401/metrics",
        gpu_index: 0,
        gpu_uuid: "GPU-1",
        telemetry_data: { gpu_power_usage: 400 },
      },
    ]);
    const { sink } = await importInto([records, gpus]);
    expect(sink.views.map((v) => [v.start_us, v.ttft_ms])).toEqual([
      [1781000000123456, 250],
      [1781000000123456, 250],
    ]);
    expect(sink.sampleRows.map(({ row }) => [row.entity.node, row.values])).toEqual([
      ["n1", { power_w: 400 }],
      ["n1", { power_w: 400 }],
    ]);
  });

  it("trap aiperf 2: the unit is read from the file", async () => {
    const start = `"request_start_ns":${NS}`;
    const units = ["ns", "us", "ms", "s"].map((unit, i) =>
      record(`${start},"worker_id":"${"w".repeat(i + 1)}"`, metric("request_latency", 1500 * 10 ** (6 - 3 * i), unit)),
    );
    const { sink } = await importInto([write("records.jsonl", units)]);
    expect(sink.views.map((v) => v.e2e_ms)).toEqual([1500, 1500, 1500, 1500]);
    const gpu = write("gpu.jsonl", [
      {
        timestamp_ns: 1781000000000000000,
        gpu_index: 0,
        gpu_uuid: "GPU-1",
        telemetry_data: {
          nvidia_sm_utilization: 45,
          nvidia_memory_used: 72.5,
          nvidia_energy_consumption: 1.5,
          nvidia_power_violation: 1.5e6,
        },
      },
      { timestamp_ns: 1781000001000000000, gpu_index: 0, gpu_uuid: "GPU-1", telemetry_data: { power_violation: 1.5e9 } },
    ]);
    const read = await importInto([gpu]);
    expect(read.sink.sampleRows[0]!.row.values).toEqual({
      sm_active_ratio: 0.45,
      fb_used_bytes: 72.5e9,
      energy_j_total: 1.5e6,
      throttle_power_s_total: 1.5,
    });
    expect(read.sink.sampleRows[1]!.row.values).toEqual({ throttle_power_s_total: 1.5 });
  });

  it("trap aiperf 3: 64-bit nanoseconds keep their microsecond", async () => {
    const stamps = ["1781000000123456999", "1781000000123457000"];
    const { sink } = await importInto([
      write(
        "records.jsonl",
        stamps.map((ns) => record(`"request_start_ns":${ns}`, metric("request_latency", 1, "ms"))),
      ),
    ]);
    expect(sink.views.map((v) => v.start_us)).toEqual([1781000000123456, 1781000000123457]);
  });

  it("trap aiperf 4: cancelled and failed requests are kept, and are no latencies", async () => {
    const latencies = `${metric("time_to_first_token", 100, "ms")},${metric("request_latency", 400, "ms")}`;
    const ok = record(`"request_start_ns":${NS}`, latencies);
    const cancelled = record(
      `"request_start_ns":${NS},"was_cancelled":true`,
      metric("error_isl", 9, "tokens"),
      '"error":{"code":499,"type":"RequestCancellationError","message":"m"}',
    );
    const failed = record(
      `"request_start_ns":${NS},"turn_index":1`,
      metric("error_isl", 7, "tokens"),
      '"error":{"code":500,"type":"ServerError","message":"m"}',
    );
    const db = path.join(scratch.folder, "t.db");
    await cli(["import", "r1", write("records.jsonl", [ok, cancelled, failed]), "--db", db]);
    const { out } = await cli(["correlate", "r1", "--json", "--db", db]);
    const report = JSON.parse(out) as Report;
    expect([report.data.requests, report.summary.ttft_ms.n]).toEqual([3, 1]);
  });

  it("trap aiperf 5: warm-up requests are labelled, not dropped", async () => {
    const { sink } = await importInto([
      write(
        "records.jsonl",
        ["warmup", "profiling"].map((phase) =>
          record(`"request_start_ns":${NS},"benchmark_phase":"${phase}"`, metric("request_latency", 1, "ms")),
        ),
      ),
    ]);
    expect(sink.views.map((v) => v.warmup)).toEqual([true, false]);
  });

  it("trap aiperf 6: a last line that a killed process left is counted, not fatal", async () => {
    const whole = record(`"request_start_ns":${NS}`, metric("request_latency", 1, "ms"));
    const { outcome } = await importInto([write("records.jsonl", [whole, whole.slice(0, 60)], "")]);
    expect(outcome.files[0]).toMatchObject({ requests: 1, rejected: { truncated: 1 } });
  });

  it("trap aiperf 7: a list-valued metric is the series of gaps", async () => {
    const line = record(`"request_start_ns":${NS}`, metric("inter_chunk_latency", [10, 20.5, 30], "ms"));
    const { sink } = await importInto([write("records.jsonl", [line])]);
    expect([...sink.views[0]!.gaps_ms!]).toEqual([10, 20.5, 30]);
  });

  it("trap aiperf 8: without the telemetry file it still imports, and the report says what it could not know", async () => {
    const lines = Array.from({ length: 40 }, (_, i) =>
      record(
        `"request_start_ns":${1781000000000 + i * 500}000000,"turn_index":${i},"worker_id":"w${"x".repeat(i)}"`,
        metric("time_to_first_token", i >= 20 && i < 28 ? 2000 : 100, "ms"),
      ),
    );
    const db = path.join(scratch.folder, "t.db");
    await cli(["import", "r1", write("records.jsonl", lines), "--db", db]);
    const report = JSON.parse((await cli(["correlate", "r1", "--json", "--db", db])).out) as Report & {
      data: { missing?: readonly unknown[] };
    };
    expect(report.data.requests).toBe(40);
    expect(report.data.missing!.length).toBeGreaterThan(0);
    expect(Math.max(0, ...report.episodes.map((e) => e.confidence ?? 0))).toBeLessThanOrEqual(0.6);
  });
});
