import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { COLUMNS, ENTITY_KINDS } from "../../schemas/columns/index.js";
import { allMetrics, COLUMN_METRICS } from "../../schemas/metric-catalogue.js";
import type { Sample } from "../../schemas/samples.js";
import { type AgentHealth, agentFamilies } from "../../src/export/agent-families.js";
import { canonicalFamilies } from "../../src/export/canonical-metrics.js";
import { createLatestValues } from "../../src/export/latest-values.js";
import { createSelfMetrics } from "../../src/export/self-metrics.js";
import { createSpikeCounters } from "../../src/export/spike-families.js";
import { writeExposition } from "../../src/text/exposition-writer.js";
import { sampleEpisode, sampleReport } from "../report/sample-report.js";

const PROMTOOL = "/usr/bin/promtool";
const hasPromtool = fs.existsSync(PROMTOOL);

/** One sample of a kind with every column set to its place in the list plus 1. */
function fullSample(kind: (typeof ENTITY_KINDS)[number], key: string, labels: Record<string, string> = {}): Sample {
  return {
    entity: { kind, node: "n1", key, labels },
    ts_us: 1,
    epoch: 0,
    values: Object.fromEntries(COLUMNS[kind].map((column, i) => [column.name, i + 1])),
  };
}

const health: AgentHealth = {
  version: "1.2.3",
  clockSteps: 1,
  collectors: [
    {
      name: "dcgm-exporter",
      success: true,
      durationMs: 12,
      lastSuccessUs: 1_700_000_000_500_000,
      attempts: 7,
      failures: 2,
      timeouts: 1,
      restarts: 0,
      missed: 3,
      samples: 40,
      rejected: new Map([["sentinel", 4]]),
    },
    {
      name: "host",
      success: null,
      durationMs: null,
      lastSuccessUs: null,
      attempts: 0,
      failures: 0,
      timeouts: 0,
      restarts: 0,
      missed: 0,
      samples: 0,
      rejected: new Map(),
    },
  ],
  store: { bufferedRows: 5, droppedRows: 0, flushes: 9, lastError: null, lastFlushDurationMs: 3 },
  otlp: { spans: { request: 3, ignored: 1 }, refused: [{ protocol: "grpc", reason: "too_large", count: 1 }] },
  live: { passes: 4, failures: 1, durationMs: 120 },
};

describe("canonicalFamilies", () => {
  it("shows readings in base units under the kind's labels", () => {
    const latest = createLatestValues(() => 0);
    latest.take("dcgm-exporter", 1000, [
      {
        entity: { kind: "gpu", node: "n1", key: "GPU-a/3", labels: { index: "0", model: "H100" } },
        ts_us: 1,
        epoch: 0,
        values: { sm_clock_mhz: 1980, power_w: 640.5, gpu_util_ratio: 0, energy_j_total: 12 },
      },
    ]);
    latest.take("host", 1000, [
      { entity: { kind: "host", node: "", key: "n1", labels: {} }, ts_us: 1, epoch: 0, values: { cpu_count: 2 } },
    ]);
    expect(writeExposition(canonicalFamilies(latest.fresh()))).toBe(
      [
        "# HELP whyslow_gpu_util_ratio NVML utilization: share of its last window with any kernel running",
        "# TYPE whyslow_gpu_util_ratio gauge",
        'whyslow_gpu_util_ratio{node="n1",gpu="0",uuid="GPU-a",gpu_instance="3",source="dcgm-exporter"} 0',
        "# HELP whyslow_gpu_power_watts Board power",
        "# TYPE whyslow_gpu_power_watts gauge",
        'whyslow_gpu_power_watts{node="n1",gpu="0",uuid="GPU-a",gpu_instance="3",source="dcgm-exporter"} 640.5',
        "# HELP whyslow_gpu_energy_joules_total Energy since driver load",
        "# TYPE whyslow_gpu_energy_joules_total counter",
        'whyslow_gpu_energy_joules_total{node="n1",gpu="0",uuid="GPU-a",gpu_instance="3",source="dcgm-exporter"} 12',
        "# HELP whyslow_gpu_sm_clock_hertz SM clock",
        "# TYPE whyslow_gpu_sm_clock_hertz gauge",
        'whyslow_gpu_sm_clock_hertz{node="n1",gpu="0",uuid="GPU-a",gpu_instance="3",source="dcgm-exporter"} 1980000000',
        "# HELP whyslow_host_cpus Online CPUs",
        "# TYPE whyslow_host_cpus gauge",
        'whyslow_host_cpus{source="host"} 2',
        "",
      ].join("\n"),
    );
  });
});

describe("createLatestValues", () => {
  const gpu = (values: Record<string, number>): Sample => ({
    entity: { kind: "gpu", node: "n1", key: "GPU-a", labels: {} },
    ts_us: 1,
    epoch: 0,
    values,
  });
  const shown = (latest: ReturnType<typeof createLatestValues>): Record<string, number> =>
    Object.fromEntries(
      latest
        .fresh()
        .gpu.flatMap((one) =>
          COLUMNS.gpu.flatMap((column, i) => (Number.isNaN(one.values[i]!) ? [] : [[`${one.source} ${column.name}`, one.values[i]!]])),
        ),
    );

  it("keeps each column until it is stale by its own source's interval, and forgets what has nothing fresh", () => {
    let now = 0;
    const latest = createLatestValues(() => now);
    latest.take("fast", 1000, [gpu({ power_w: 100, temp_c: 40 })]);
    latest.take("slow", 30_000, [gpu({ power_w: 99, unknown_column: 1 })]);
    now = 10_000;
    latest.take("fast", 1000, [gpu({ power_w: 110 })]);
    now = 15_000;
    expect(shown(latest)).toEqual({ "fast power_w": 110, "fast temp_c": 40, "slow power_w": 99 });
    now = 15_001;
    expect(shown(latest)).toEqual({ "fast power_w": 110, "slow power_w": 99 });
    now = 150_000;
    expect(shown(latest)).toEqual({ "slow power_w": 99 });
    now = 150_001;
    expect(latest.fresh().gpu).toEqual([]);
  });

  it("shows zero as zero and missing as nothing", () => {
    const latest = createLatestValues(() => 0);
    latest.take("fast", 1000, [gpu({ power_w: 0 })]);
    expect(shown(latest)).toEqual({ "fast power_w": 0 });
  });
});

describe("the metric catalogue", () => {
  it("has one name for one meaning", () => {
    const names = allMetrics().map((m) => m.name);
    expect(new Set(names).size).toBe(names.length);
    for (const kind of ENTITY_KINDS) expect(COLUMN_METRICS[kind]).toHaveLength(COLUMNS[kind].length);
  });

  it("leaves out what a collector cannot know yet", () => {
    const text = writeExposition(agentFamilies(health));
    expect(text).toContain('whyslow_collector_success{collector="dcgm-exporter"} 1\n');
    expect(text).not.toContain('whyslow_collector_success{collector="host"}');
    expect(text).toContain('whyslow_collector_rejected_total{collector="dcgm-exporter",reason="sentinel"} 4\n');
    expect(text).toContain("whyslow_store_writable 1\n");
  });

  it.runIf(hasPromtool || process.env.WHYSLOW_REQUIRE_ALL === "1")(
    "passes promtool with every metric there is (needs promtool)",
    async () => {
      const latest = createLatestValues(() => 0);
      for (const kind of ENTITY_KINDS) {
        const labels = { index: "0", role: "engine", type: "nic", engine: "vllm", rank: "0", model: 'a "b"\\c' };
        latest.take("test", 1000, [fullSample(kind, "one", labels), fullSample(kind, "two", labels)]);
      }
      const found = createSpikeCounters({ spikes: [], episodes: [] });
      found.add({ episode: { ...sampleEpisode, server: 'a "b"\\c' }, spikes: sampleReport.spikes });
      found.open([{ ...sampleEpisode, cause: null, server: null }]);
      const page =
        writeExposition([...canonicalFamilies(latest.fresh()), ...agentFamilies(health), ...found.families()]) +
        (await createSelfMetrics().text());
      for (const metric of allMetrics()) expect(page).toContain(`# TYPE ${metric.name} ${metric.type}\n`);
      const judge = spawnSync(PROMTOOL, ["check", "metrics"], { input: page, encoding: "utf8" });
      expect(judge.error).toBe(undefined);
      expect(judge.stderr + judge.stdout).toBe("");
      expect(judge.status).toBe(0);
    },
  );
});
