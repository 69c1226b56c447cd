import type { EntityKind } from "./columns/index.js";

/**
 * An entity of the node. Identity is (kind, node, key); labels describe it and may change.
 *
 * | kind    | key                                                         | labels used by the correlator |
 * |---------|-------------------------------------------------------------|-------------------------------|
 * | gpu     | UUID, or `UUID/GPU_I_ID` for a MIG instance                 | index, model, pci_bus_id, pod, namespace, container, pids (comma separated, empty = none), numa_node, cpu_affinity, topology, mig_profile, mig_uuid |
 * | host    | the node's name                                             | |
 * | process | `cgroup:PATH`, `container:NS/POD/NAME` or `proc:PID:START`  | role (cgroup, container, api_server, engine, worker, other), pid, name, pod, container, server |
 * | link    | `nic:NAME`, `ib:DEVICE/PORT`, `nvlink:UUID/N`, `pcie:UUID`  | type (nic, infiniband, roce, nvlink, pcie), gpu |
 * | server  | `ENGINE:INSTANCE/RANK` (instance: pod, URL host:port, or model) | engine, rank, model, pod, namespace, url, pid |
 */
export interface EntityRef {
  readonly kind: EntityKind;
  /** Empty when a file does not say it. */
  readonly node: string;
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** One telemetry origin. Identity is (name, node, run): two imports never share a source, and neither shares with the live agent. */
export interface SourceSpec {
  /** The collector's or the importer map's name: `dcgm-exporter`, `nvidia-smi-query`, `node_exporter`, `cadvisor`, `vllm`, … */
  readonly name: string;
  readonly node: string;
  /** The run that an imported source belongs to; null for the live agent. */
  readonly run: string | null;
  /** Nominal interval in milliseconds; null when only the data can tell. */
  readonly interval_ms: number | null;
  /** Averaging window of `interval` columns in milliseconds; null = the measured refresh interval. */
  readonly window_ms: number | null;
  /** Reporting lag in milliseconds; null = unknown. */
  readonly lag_ms: number | null;
}

/** One reading of one entity by one source. Absent columns are missing, never zero; values are finite and in the column's unit. */
export interface Sample {
  readonly entity: EntityRef;
  /** Integer microseconds since the Unix epoch, UTC: the end of what is described, before lag. */
  readonly ts_us: number;
  /** Clock epoch: rates never cross a change. 0 for imports. */
  readonly epoch: number;
  readonly values: Readonly<Record<string, number>>;
}

/** A reading that has no canonical column: histogram buckets and extra metrics. */
export interface SeriesSample {
  readonly entity: EntityRef;
  /** Foreign metric name as it was read. */
  readonly metric: string;
  /** The labels that tell series of one metric and entity apart, e.g. `{ le: "0.5" }`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly type: "counter" | "gauge";
  readonly ts_us: number;
  readonly epoch: number;
  readonly value: number;
}
