import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIXTURES, importInto, temporaryFolder } from "./run-import.js";

let scratch: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  scratch = temporaryFolder();
});
afterEach(() => scratch.remove());

const write = (name: string, content: string | Buffer): string => {
  const at = path.join(scratch.folder, name);
  fs.writeFileSync(at, content);
  return at;
};
const start = 1_788_436_076_903_676_000n;
const aiperf = (i: number): string =>
  `{"metadata":{"x_request_id":"r${i}","request_start_ns":${start + BigInt(i)},"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":1,"unit":"ms"}},"error":null}`;
const LINES: readonly [string, string][] = [
  ["aiperf", aiperf(1)],
  [
    "aiperf-gpu-telemetry",
    `{"timestamp_ns":${start},"gpu_index":0,"gpu_uuid":"GPU-1","hostname":"n","telemetry_data":{"gpu_power_usage":100}}`,
  ],
  [
    "aiperf-server-metrics",
    `{"endpoint_url":"http://a:1/metrics","timestamp_ns":${start},"metrics":{"vllm:num_requests_running":[{"labels":{},"value":1}]}}`,
  ],
  ["otlp-file", '{"resourceSpans":[]}'],
  ["vllm-request-metrics", '{"arrival_time":1788436076.9,"first_scheduled_time":1788436077.0,"finished_time":1788436078.0}'],
  ["request-form", '{"request_id":"a","start":"2026-09-03T11:47:56Z","e2e_ms":5}'],
];

describe("a broken first line", () => {
  it.each(LINES)("of %s costs that line alone", async (name, line) => {
    for (const broken of ["garbage", '{"metadata":{"x_requ', "\u0000\u0000", "[1, 2]", '{"a":1}']) {
      const { outcome, sink } = await importInto([write("f.txt", `${broken}\n\n${line}\n`)]);
      expect(outcome.files[0]).toMatchObject({ format: name });
      const refused = Object.values(sink.refused).reduce((a, b) => a + b, 0);
      expect(refused).toBe(1);
      if (name !== "otlp-file") expect(sink.views.length + sink.sampleRows.length).toBeGreaterThan(0);
    }
  });

  it("of whyslow's form as CSV costs that line alone", async () => {
    const { outcome, sink } = await importInto([write("f.csv", "garbage\nrequest_id,start,e2e_ms\na,2026-09-03T11:47:56Z,5\n")]);
    expect(outcome.files[0]).toMatchObject({ format: "request-form", requests: 1, rejected: { syntax: 1 } });
    expect(sink.views[0]).toMatchObject({ request_id: "a", e2e_ms: 5 });
  });

  it("nineteen of them do no harm, a line within another document is none", async () => {
    const { outcome } = await importInto([write("a", `${"oops\n".repeat(19)}${aiperf(1)}\n`)]);
    expect(outcome.files[0]).toMatchObject({ format: "aiperf", requests: 1, rejected: { syntax: 19 } });
    await expect(importInto([write("b", `{"rows": [\n  ${aiperf(1)}\n]}\n`)])).rejects.toMatchObject({ code: "FILE_FORMAT" });
  });
});

describe("a file of no known format", () => {
  it("is one short line that names what is seen", async () => {
    const failure = async (name: string, content: string | Buffer) => {
      try {
        await importInto([write(name, content)]);
      } catch (error) {
        const { message, mend } = error as { message: string; mend: string };
        return `${message}; ${mend}`.replace(`${scratch.folder}/`, "");
      }
      return "read";
    };
    const text = fs.readFileSync(path.join(FIXTURES, "aiperf/0.14/profile_export.jsonl"), "utf8");
    expect(await failure("u", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]))).toMatch(
      /^u is UTF-16 text; .*iconv/,
    );
    expect(await failure("z", Buffer.from("PK\u0003\u0004\u0014\u0000rest"))).toMatch(/^z is a zip archive; unpack/);
    const unknown = await failure("n", "hello\nworld\n");
    expect(unknown).toMatch(/^n is of no known format; .*--help/);
    expect(unknown.length).toBeLessThan(200);
  });
});
