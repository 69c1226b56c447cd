import path from "node:path";
import { describe, expect, it } from "vitest";
import { busCeiling, parseNcclTests } from "../../../src/text/nccl-tests.js";
import { FIXTURES, importInto } from "../run-import.js";

const file = (name: string) => path.join(FIXTURES, "nccl-tests", name);

describe("logs of nccl-tests", () => {
  it("give the ceiling of large messages, never the mean over all sizes; ranks by the ratio where they are not listed", async () => {
    const { sink, outcome } = await importInto([file("2.13/all_reduce.log")]);
    expect(outcome.files[0]).toMatchObject({ format: "nccl-tests", rejected: { not_a_row: 1 } });
    expect(sink.facts).toEqual({ nccl_bus_bandwidth_gbs: "337.5", nccl_ranks: "16" });
    expect(outcome.files[0]!.warnings.join()).toContain("2 message sizes over 16 ranks: bus bandwidth of large messages up to 337.5 GB/s");
  });

  it("of an old version, without operation and root", async () => {
    const { sink } = await importInto([file("2.10/alltoall.log")]);
    expect(sink.facts).toEqual({ nccl_bus_bandwidth_gbs: "57.66", nccl_ranks: "2" });
  });

  it("trap servers-and-traces 32: rows of 11, 12 and 13 tokens and a message between them give the same fields", () => {
    const tail = "135.8 1.00 1.75 N/A 47535 1.10 1.92 0";
    const text = [
      `67108864 2 float ${tail}`,
      `67108864 2 float sum ${tail}`,
      "h:1:1 [0] NCCL INFO x",
      `67108864 2 float sum -1 ${tail}`,
    ].join("\n");
    const run = parseNcclTests(text);
    const row = {
      size_bytes: 67_108_864,
      count: 2,
      out_of_place: { time_us: 135.8, algbw_gbs: 1, busbw_gbs: 1.75, wrong: null },
      in_place: { time_us: 47_535, algbw_gbs: 1.1, busbw_gbs: 1.92, wrong: 0 },
    };
    expect([run.rows, run.foreign_lines, busCeiling(run)]).toEqual([[row, row, row], 1, 1.92]);
  });
});
