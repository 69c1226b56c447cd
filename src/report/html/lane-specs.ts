import type { EntityKind } from "../../../schemas/index.js";
import type { LaneUnit } from "./page-data.js";

/** How one line of a lane comes from the columns of a track: the sum of the named columns, as levels or (counters) as rates per second. */
export interface LineSpec {
  readonly kind: EntityKind;
  readonly columns: readonly string[];
  readonly rate?: boolean;
  /** Said after the entity's name, e.g. `waiting`. */
  readonly part?: string;
  /** Divides by the rate of this counter, e.g. periods. */
  readonly over?: string;
}

export interface LaneSpec {
  readonly id: string;
  readonly title: string;
  readonly unit: LaneUnit;
  /** Tried in turn: the first alternative that some track can fill is drawn. Each is a set of lines. */
  readonly alternatives: readonly { readonly lines: readonly LineSpec[]; readonly note?: string }[];
  /** A lane of events or waits that is left out while it is zero throughout. */
  readonly quietWhenZero?: boolean;
}

const level = (kind: EntityKind, column: string, part?: string): LineSpec => ({ kind, columns: [column], ...(part ? { part } : {}) });
const rate = (kind: EntityKind, columns: readonly string[], part?: string): LineSpec => ({
  kind,
  columns,
  rate: true,
  ...(part ? { part } : {}),
});

/** The lanes below the requests, in reading order: what the server did, the GPUs, the links, the CPUs. */
export const LANE_SPECS: readonly LaneSpec[] = [
  {
    id: "queue",
    title: "Server: waiting and running",
    unit: "count",
    alternatives: [{ lines: [level("server", "waiting", "waiting"), level("server", "running", "running")] }],
  },
  { id: "kv", title: "Server: KV cache in use", unit: "ratio", alternatives: [{ lines: [level("server", "kv_usage_ratio")] }] },
  {
    id: "preemptions",
    title: "Server: preemptions",
    unit: "per_s",
    quietWhenZero: true,
    alternatives: [{ lines: [rate("server", ["preemptions_total"])] }],
  },
  {
    id: "sm",
    title: "GPU: SM active",
    unit: "ratio",
    alternatives: [
      { lines: [level("gpu", "sm_active_ratio")] },
      { lines: [level("gpu", "gr_engine_active_ratio")], note: "engine active: no SM counter was read" },
      { lines: [level("gpu", "gpu_util_ratio")], note: "NVML utilization: any kernel running; no profiling counter was read" },
    ],
  },
  { id: "tensor", title: "GPU: tensor pipes active", unit: "ratio", alternatives: [{ lines: [level("gpu", "tensor_active_ratio")] }] },
  {
    id: "dram",
    title: "GPU: DRAM active",
    unit: "ratio",
    alternatives: [
      { lines: [level("gpu", "dram_active_ratio")] },
      { lines: [level("gpu", "mem_util_ratio")], note: "NVML memory utilization: not bandwidth; no profiling counter was read" },
    ],
  },
  {
    id: "power",
    title: "GPU: power",
    unit: "w",
    alternatives: [{ lines: [level("gpu", "power_w")] }, { lines: [level("gpu", "power_instant_w")], note: "momentary" }],
  },
  { id: "clock", title: "GPU: SM clock", unit: "mhz", alternatives: [{ lines: [level("gpu", "sm_clock_mhz")] }] },
  {
    id: "throttle",
    title: "GPU: clocks held down",
    unit: "ratio",
    quietWhenZero: true,
    alternatives: [{ lines: [rate("gpu", ["throttle_power_s_total"], "by power"), rate("gpu", ["throttle_thermal_s_total"], "by heat")] }],
  },
  {
    id: "nvlink",
    title: "GPU: NVLink traffic",
    unit: "bytes_per_s",
    quietWhenZero: true,
    alternatives: [
      { lines: [{ kind: "gpu", columns: ["nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s"] }] },
      { lines: [level("gpu", "nvlink_total_bytes_per_s")] },
      { lines: [rate("gpu", ["nvlink_tx_bytes_total", "nvlink_rx_bytes_total"])] },
    ],
  },
  {
    id: "pcie",
    title: "GPU: PCIe traffic",
    unit: "bytes_per_s",
    quietWhenZero: true,
    alternatives: [{ lines: [{ kind: "gpu", columns: ["pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"] }] }],
  },
  {
    id: "links",
    title: "Links: traffic",
    unit: "bytes_per_s",
    quietWhenZero: true,
    alternatives: [{ lines: [rate("link", ["rx_bytes_total", "tx_bytes_total"])] }],
  },
  {
    id: "link-wait",
    title: "Links: waiting for credit",
    unit: "ratio",
    quietWhenZero: true,
    alternatives: [{ lines: [level("link", "xmit_wait_ratio")] }],
  },
  { id: "cpu", title: "CPU of the server's processes", unit: "cores", alternatives: [{ lines: [rate("process", ["cpu_s_total"])] }] },
  {
    id: "thread",
    title: "CPU: busiest thread",
    unit: "cores",
    alternatives: [{ lines: [level("process", "hottest_thread_cores")] }],
  },
  {
    id: "cfs",
    title: "CPU: throttled by quota",
    unit: "ratio",
    quietWhenZero: true,
    alternatives: [
      {
        lines: [{ kind: "process", columns: ["cfs_throttled_periods_total"], rate: true, over: "cfs_periods_total" }],
        note: "share of periods",
      },
    ],
  },
  {
    id: "psi",
    title: "Pressure (PSI, some)",
    unit: "ratio",
    quietWhenZero: true,
    alternatives: [
      {
        lines: [
          rate("host", ["psi_cpu_some_s_total"], "CPU"),
          rate("host", ["psi_mem_some_s_total"], "memory"),
          rate("host", ["psi_io_some_s_total"], "I/O"),
          rate("process", ["psi_cpu_some_s_total"], "CPU"),
        ],
      },
    ],
  },
  {
    id: "host",
    title: "Host: CPUs busy",
    unit: "cores",
    alternatives: [{ lines: [rate("host", ["cpu_user_s_total", "cpu_system_s_total"])] }],
  },
];
