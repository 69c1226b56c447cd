import path from "node:path";
import { expect, it } from "vitest";
import { FIXTURES, importInto } from "../run-import.js";

it("MLPerf LoadGen: the window by power_begin in UTC, never by the local test_datetime", async () => {
  const { sink, outcome } = await importInto([path.join(FIXTURES, "mlperf-loadgen/5.1/mlperf_log_detail.txt")]);
  expect(outcome.files[0]).toMatchObject({ format: "mlperf-loadgen", marks: 2, requests: 0, rejected: { syntax: 1 } });
  expect(outcome.range).toEqual({
    start_us: Date.UTC(2026, 8, 3, 9, 7, 0, 770) * 1000,
    end_us: Date.UTC(2026, 8, 3, 9, 17, 0, 770) * 1000,
  });
  expect(sink.markRows.map((m) => m.text)).toEqual(["MLPerf LoadGen begins", "MLPerf LoadGen ends"]);
  expect(sink.facts).toEqual({ load_generator: "5.1.0 @ 0000000000", scenario: "Offline" });
});
