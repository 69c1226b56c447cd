import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanExposition } from "../../src/text/exposition-scanner.js";
import { type ExpositionFamily, writeExposition } from "../../src/text/exposition-writer.js";

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0 || process.env.WHYSLOW_REQUIRE_ALL === "1";

const power: ExpositionFamily = {
  name: "whyslow_gpu_power_watts",
  help: 'Board power, "W"\nsecond \\ line',
  type: "gauge",
  samples: [
    { labels: { gpu: "GPU-1", model: 'NVIDIA "H100"\\x\n80GB' }, value: 631.95 },
    { labels: {}, value: Number.POSITIVE_INFINITY },
  ],
};

const latency: ExpositionFamily = {
  name: "whyslow_collect_seconds",
  help: "Time of a collection",
  type: "histogram",
  samples: [
    { suffix: "_bucket", labels: { le: "0.1" }, value: 3 },
    { suffix: "_bucket", labels: { le: "+Inf" }, value: 4 },
    { suffix: "_sum", labels: {}, value: 0.5 },
    { suffix: "_count", labels: {}, value: 4, ts_ms: 1788404001007 },
  ],
};

describe("writeExposition", () => {
  it("writes HELP, TYPE, escapes and numbers as text format 0.0.4 wants them", () => {
    expect(writeExposition([power, latency])).toBe(
      [
        '# HELP whyslow_gpu_power_watts Board power, "W"\\nsecond \\\\ line',
        "# TYPE whyslow_gpu_power_watts gauge",
        'whyslow_gpu_power_watts{gpu="GPU-1",model="NVIDIA \\"H100\\"\\\\x\\n80GB"} 631.95',
        "whyslow_gpu_power_watts +Inf",
        "# HELP whyslow_collect_seconds Time of a collection",
        "# TYPE whyslow_collect_seconds histogram",
        'whyslow_collect_seconds_bucket{le="0.1"} 3',
        'whyslow_collect_seconds_bucket{le="+Inf"} 4',
        "whyslow_collect_seconds_sum 0.5",
        "whyslow_collect_seconds_count 4 1788404001007",
        "",
      ].join("\n"),
    );
  });

  it("leaves families without samples out", () => {
    expect(writeExposition([{ ...power, samples: [] }])).toBe("");
  });

  it("refuses names that the format cannot hold", () => {
    expect(() => writeExposition([{ ...power, name: "gpu.power" }])).toThrow("gpu.power");
    expect(() => writeExposition([{ ...power, samples: [{ labels: { "a-b": "1" }, value: 1 }] }])).toThrow("a-b");
  });

  it("writes what the scanner reads back, label for label and digit for digit", () => {
    const text = fc.string({ unit: "grapheme" });
    const sample = fc.record({
      labels: fc.dictionary(fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/), text, { maxKeys: 4 }),
      value: fc.double(),
      ts_ms: fc.integer({ min: 0, max: 4e12 }),
    });
    const family = fc.record({
      name: fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,12}$/),
      help: text,
      type: fc.constantFrom("gauge" as const, "counter" as const, "untyped" as const),
      samples: fc.array(sample, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(family, { maxLength: 4 }), (families) => {
        const rows: unknown[] = [];
        const summary = scanExposition(
          writeExposition(families),
          {
            sample: (s, value, ts) => rows.push([s.name, { ...s.labels }, value, ts]),
          },
          { timestamps: "ms" },
        );
        expect(summary.errors).toBe(0);
        expect(rows).toEqual(families.flatMap((f) => f.samples.map((s) => [f.name, { ...s.labels }, s.value, s.ts_ms * 1000])));
      }),
    );
  });

  it.skipIf(!hasPromtool)("is accepted by promtool check metrics (skipped only where promtool is not installed)", () => {
    const counter: ExpositionFamily = {
      name: "whyslow_samples_total",
      help: "Samples taken",
      type: "counter",
      samples: [{ labels: { collector: "host" }, value: 12 }],
    };
    const plain = { ...latency, samples: latency.samples.map(({ ts_ms: _, ...s }) => s) };
    const judged = spawnSync("promtool", ["check", "metrics"], { input: writeExposition([power, plain, counter]), encoding: "utf8" });
    expect(judged.stdout + judged.stderr).toBe("");
    expect(judged.status).toBe(0);
  });
});
