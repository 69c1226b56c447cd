import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostPart } from "../../src/text/canonical-node.js";
import { createCanonicalMapper } from "../../src/text/canonical-series.js";
import { scanExposition } from "../../src/text/exposition-scanner.js";
import { canonical } from "./canonical-reading.js";

const imported = (lines: readonly string[], options: Parameters<typeof canonical>[1] = {}) =>
  canonical(`${lines.join("\n")}\n`, options, null);

const gpuRow = (name: string, value: number, ts: string): string =>
  `${name}{gpu="0",UUID="GPU-a",Hostname="node-a",namespace="llm",pod="llm-0"} ${value} ${ts}`;

describe("imports", () => {
  it("merges families that stand one after another into one row a time, exact to the microsecond", () => {
    const read = imported([
      gpuRow("DCGM_FI_DEV_GPU_TEMP", 50, "1788404001.007"),
      gpuRow("DCGM_FI_DEV_GPU_TEMP", 51, "1788404002.000001"),
      gpuRow("DCGM_FI_DEV_POWER_USAGE", 300.5, "1788404001.007"),
      gpuRow("DCGM_FI_DEV_POWER_USAGE", 301, "1788404003"),
      "# EOF",
    ]);
    expect(read.samples.map((s) => [s.ts_us, s.values])).toEqual([
      [1_788_404_001_007_000, { temp_c: 50, power_w: 300.5 }],
      [1_788_404_002_000_001, { temp_c: 51 }],
      [1_788_404_003_000_000, { power_w: 301 }],
    ]);
  });

  it("puts rows into the order of time, however the file has them", () => {
    const read = imported([gpuRow("DCGM_FI_DEV_GPU_TEMP", 52, "1788404003"), gpuRow("DCGM_FI_DEV_GPU_TEMP", 50, "1788404001")]);
    expect(read.samples.map((s) => s.values.temp_c)).toEqual([50, 52]);
  });

  it("refuses and counts lines without a timestamp", () => {
    const read = imported(['DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a"} 50', gpuRow("DCGM_FI_DEV_GPU_TEMP", 51, "1788404002")]);
    expect(read.samples).toHaveLength(1);
    expect(read.summary.rejected).toEqual({ "dcgm-exporter": { no_timestamp: 1 } });
  });

  it("hands out batches of the asked size, with nothing lost", () => {
    const rows = Array.from({ length: 25 }, (_, i) => gpuRow("DCGM_FI_DEV_GPU_TEMP", 40 + (i % 9), String(1_788_404_000 + i)));
    const mapper = createCanonicalMapper();
    mapper.begin(null);
    scanExposition(rows.join("\n"), mapper);
    const sizes = [...mapper.batches(10)].map((b) => b.samples.length);
    expect(sizes).toEqual([10, 10, 5]);
  });

  it("takes no fall from a counter whose parts are not all there", () => {
    const part = (reason: string, value: number, ts: number) =>
      `vllm:request_success_total{finished_reason="${reason}",pod="p"} ${value} ${ts}`;
    const read = imported([
      part("stop", 10, 1_788_404_001),
      part("stop", 12, 1_788_404_003),
      part("length", 1, 1_788_404_001),
      part("length", 1, 1_788_404_002),
      part("length", 2, 1_788_404_003),
    ]);
    expect(read.samples.map((s) => s.values)).toEqual([{ success_total: 11 }, { success_total: 14 }]);
    expect(read.summary.rejected).toEqual({ vllm: { incomplete_sum: 1 } });
  });

  it("sums the parts of a counter as the sum of their values, for any mixture of times", () => {
    const lanes = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 7 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lanes, (times) => {
        const parts = times.map((ts, part) => ts.map((t) => ({ t, value: (part + 1) * 100 + t })));
        const lines = parts.flatMap((rows, part) =>
          rows.map((r) => `vllm:request_success_total{finished_reason="${part}",pod="p"} ${r.value} ${1_788_404_000 + r.t}`),
        );
        const expected: [number, number][] = [];
        for (let t = 0; t <= 6; t++) {
          const living = parts.filter((rows) => rows.some((r) => r.t <= t) && rows.some((r) => r.t >= t));
          const there = living.flatMap((rows) => rows.filter((r) => r.t === t));
          if (there.length > 0 && there.length === living.length) expected.push([t, there.reduce((a, r) => a + r.value, 0)]);
        }
        const got = lines.length === 0 ? [] : imported(lines).samples.map((s) => [s.ts_us / 1e6 - 1_788_404_000, s.values.success_total]);
        expect(got).toEqual(expected);
      }),
    );
  });
});

describe("whose row it is", () => {
  const at = "1788404001";

  it("gives rows without a node the only node that the file names", () => {
    const read = imported([
      gpuRow("DCGM_FI_DEV_GPU_TEMP", 50, at),
      `node_load1 3 ${at}`,
      `container_cpu_usage_seconds_total{container="main",pod="llm-0",cpu="total"} 7 ${at}`,
      `vllm:num_requests_running{engine="0",model_name="m",pod="llm-0"} 2 ${at}`,
    ]);
    expect(read.samples.map((s) => `${s.entity.kind} ${s.entity.node} ${s.entity.key}`)).toEqual([
      "process node-a container:/llm-0/main",
      "gpu node-a GPU-a",
      "host node-a node-a",
      "server node-a vllm:llm-0/0",
    ]);
  });

  it("places a server by its pod when there are several nodes", () => {
    const read = imported([
      gpuRow("DCGM_FI_DEV_GPU_TEMP", 50, at),
      `DCGM_FI_DEV_GPU_TEMP{UUID="GPU-b",Hostname="node-b",namespace="llm",pod="llm-1"} 50 ${at}`,
      `vllm:num_requests_running{namespace="llm",pod="llm-1"} 2 ${at}`,
      `vllm:num_requests_running{namespace="llm",pod="llm-9"} 2 ${at}`,
    ]);
    expect(read.node("vllm:llm-1/0")).toBe("node-b");
    expect(read.node("vllm:llm-9/0")).toBe("");
  });

  it("learns the name of an address from rows that carry both, and drops exporter ports", () => {
    const read = imported([
      `DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a",Hostname="node-a",instance="10.0.0.5:9400"} 50 ${at}`,
      `DCGM_FI_DEV_GPU_TEMP{UUID="GPU-b",Hostname="node-b",instance="10.0.0.6:9400"} 50 ${at}`,
      `node_load1{instance="10.0.0.6:9100"} 3 ${at}`,
      `node_load1{instance="worker-9:9100"} 4 ${at}`,
    ]);
    expect(read.samples.filter((s) => s.entity.kind === "host").map((s) => [s.entity.key, s.values.load1])).toEqual([
      ["node-b", 3],
      ["worker-9", 4],
    ]);
  });

  it("does not take a server's own address for a node, nor an exporter's pod for its host", () => {
    const read = imported([
      `DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a",Hostname="nvidia-dcgm-exporter-d2khm",node="node-a"} 50 ${at}`,
      `vllm:num_requests_running{instance="10.244.1.7:8000"} 2 ${at}`,
    ]);
    expect(read.samples.map((s) => [s.entity.key, s.entity.node])).toEqual([
      ["GPU-a", "node-a"],
      ["vllm:10.244.1.7:8000/0", "node-a"],
    ]);
  });

  it("uses the default when the file names no node at all", () => {
    expect(imported([`node_load1 3 ${at}`], { default_node: "here" }).samples[0]!.entity).toMatchObject({ node: "here", key: "here" });
    expect(imported([`node_load1 3 ${at}`]).samples[0]!.entity.node).toBe("");
  });

  it("books the CPU of the process beside an engine on the engine of the same pod or address", () => {
    const read = imported([
      `vllm:num_requests_running{engine="0",pod="llm-0"} 2 ${at}`,
      `vllm:num_requests_running{engine="1",pod="llm-0"} 2 ${at}`,
      `sglang:num_running_reqs{instance="h:30000"} 1 ${at}`,
      `process_cpu_seconds_total{pod="llm-0"} 100.05 ${at}`,
      `process_cpu_seconds_total{instance="h:30000"} 7 ${at}`,
      `process_cpu_seconds_total{instance="h:9100",job="node-exporter"} 8 ${at}`,
      `process_cpu_seconds_total 9 ${at}`,
    ]);
    expect(read.of("vllm:llm-0/0")).toEqual({ running: 2, process_cpu_s_total: 100.05 });
    expect(read.of("vllm:llm-0/1")).toEqual({ running: 2 });
    expect(read.of("sglang:h:30000/0")).toEqual({ running: 1, process_cpu_s_total: 7 });
  });

  it("tells the same pod name of two namespaces apart", () => {
    const read = imported([
      `vllm:num_requests_running{namespace="a",pod="llm-0"} 1 ${at}`,
      `vllm:num_requests_running{namespace="b",pod="llm-0"} 2 ${at}`,
    ]);
    expect(read.samples.map((s) => [s.entity.key, s.values.running])).toEqual([
      ["vllm:a/llm-0/0", 1],
      ["vllm:b/llm-0/0", 2],
    ]);
  });

  it("sees a pod that came back under a new address as one server, and two servers of one pod as two", () => {
    const row = (instance: string, value: number, ts: string) => [
      `vllm:num_requests_running{pod="llm-0",instance="${instance}",model_name="m"} ${value} ${ts}`,
      `process_cpu_seconds_total{pod="llm-0",instance="${instance}"} ${value * 10} ${ts}`,
    ];
    const back = imported([...row("10.0.0.1:8000", 1, "1788404001"), ...row("10.0.0.2:8000", 2, "1788404002")]);
    expect(back.samples.map((s) => [s.entity.key, s.values])).toEqual([
      ["vllm:llm-0/0", { running: 1, process_cpu_s_total: 10 }],
      ["vllm:llm-0/0", { running: 2, process_cpu_s_total: 20 }],
    ]);
    const two = imported([...row("10.0.0.1:8000", 1, at), ...row("10.0.0.1:8001", 2, at)]);
    expect(two.samples.map((s) => [s.entity.key, s.values])).toEqual([
      ["vllm:llm-0:8000/m/0", { running: 1, process_cpu_s_total: 10 }],
      ["vllm:llm-0:8001/m/0", { running: 2, process_cpu_s_total: 20 }],
    ]);
  });

  it("reads the host of an address", () => {
    expect(["a:9100", "10.0.0.5:9400", "http://h:1/metrics", "[::1]:9", "node-a", "fe80::1", ""].map(hostPart)).toEqual([
      ...["a", "10.0.0.5", "h", "::1", "node-a", "fe80::1", ""],
    ]);
  });
});

describe("host and container rows", () => {
  const at = "1788404001";

  it("adds CPUs and modes of node_exporter, counts the CPUs, and subtracts free swap", () => {
    const cpu = (n: number, mode: string, v: number) => `node_cpu_seconds_total{cpu="${n}",mode="${mode}"} ${v} ${at}`;
    const read = imported([
      ...[0, 1].flatMap((n) => [
        cpu(n, "user", 10),
        cpu(n, "nice", 1),
        cpu(n, "system", 2),
        cpu(n, "softirq", 0.5),
        cpu(n, "idle", 100),
        cpu(n, "steal", 0),
      ]),
      `node_memory_SwapTotal_bytes 1000 ${at}`,
      `node_memory_SwapFree_bytes 400 ${at}`,
      `node_disk_read_bytes_total{device="nvme0n1"} 5 ${at}`,
      `node_disk_read_bytes_total{device="dm-0"} 5 ${at}`,
    ]);
    expect(read.samples[0]!.values).toEqual({
      cpu_user_s_total: 22,
      cpu_system_s_total: 5,
      cpu_idle_s_total: 200,
      cpu_count: 2,
      cpu_steal_s_total: 0,
      swap_used_bytes: 600,
      disk_read_bytes_total: 5,
    });
  });

  it("does not count twice what two jobs scrape", () => {
    const rows = ["a", "b"].flatMap((job) => [
      ...[0, 1].map((n) => `node_cpu_seconds_total{cpu="${n}",mode="idle",job="${job}"} 9 ${at}`),
      ...["stop", "length"].map((why) => `vllm:request_success_total{finished_reason="${why}",pod="p",job="${job}"} 5 ${at}`),
    ]);
    expect(imported(rows).samples.map((s) => s.values)).toEqual([{ cpu_idle_s_total: 18, cpu_count: 2 }, { success_total: 10 }]);
  });

  it("does not count an aggregate row as a CPU, and gives no difference of one number", () => {
    const read = imported([`node_cpu_seconds_total{cpu="all",mode="idle"} 9 ${at}`, `node_memory_SwapTotal_bytes 1000 ${at}`]);
    expect(read.samples.map((s) => s.values)).toEqual([{ cpu_idle_s_total: 9 }]);
  });

  it("keeps ports, leaves bridges and containers' ends, and takes an unknown speed as unknown", () => {
    const nic = (device: string) => [
      `node_network_transmit_bytes_total{device="${device}"} 7 ${at}`,
      `node_network_speed_bytes{device="${device}"} -125000 ${at}`,
    ];
    const read = imported([
      ...["eth0", "lo", "veth12ab", "docker0", "cali99"].flatMap(nic),
      `node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="1"} 3 ${at}`,
    ]);
    expect(read.samples.map((s) => [s.entity.key, s.entity.labels.type, s.values])).toEqual([
      ["ib:mlx5_0/1", "infiniband", { rx_bytes_total: 3 }],
      ["nic:eth0", "nic", { tx_bytes_total: 7 }],
    ]);
  });

  it("reads containers, not their pod's sum, pause container or slice, and the limit from quota and period", () => {
    const row = (labels: string, v: number) => `container_cpu_usage_seconds_total{${labels}} ${v} ${at}`;
    const main = 'namespace="llm",pod="llm-0",container="main"';
    const read = imported([
      row(`${main},cpu="total"`, 9),
      row('namespace="llm",pod="llm-0",container="POD",cpu="total"', 1),
      row('namespace="llm",pod="llm-0",cpu="total"', 10),
      row('id="/system.slice"', 99),
      `container_spec_cpu_quota{${main}} 600000 ${at}`,
      `container_spec_cpu_period{${main}} 100000 ${at}`,
      `container_spec_cpu_quota{namespace="llm",pod="llm-0",container="free"} -1 ${at}`,
      `container_spec_cpu_period{namespace="llm",pod="llm-0",container="free"} 100000 ${at}`,
      `container_spec_memory_limit_bytes{${main}} 0 ${at}`,
      `container_cpu_cfs_throttled_seconds_total{${main}} 1.5 ${at}`,
    ]);
    expect(read.samples.map((s) => [s.entity.key, s.values])).toEqual([
      ["container:llm/llm-0/main", { cpu_s_total: 9, cpu_limit_cores: 6, cfs_throttled_s_total: 1.5 }],
    ]);
    expect(read.samples[0]!.entity.labels).toEqual({ role: "container", name: "main", container: "main", pod: "llm-0", namespace: "llm" });
    expect(read.summary.rejected).toEqual({});
  });

  it("adds the CPUs of a container only where there is no total, and names plain Docker containers", () => {
    const cpus = imported([0, 1].map((n) => `container_cpu_usage_seconds_total{name="vllm",image="vllm:1",cpu="cpu0${n}"} 4 ${at}`));
    expect(cpus.samples.map((s) => [s.entity.key, s.values])).toEqual([["container://vllm", { cpu_s_total: 8 }]]);
  });
});
