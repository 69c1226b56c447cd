import { type EntityDraft, known, type Labels, type MapRule, pick, type SourceMap } from "./source-map.js";

const group = (column: string, rule: Partial<MapRule> = {}): MapRule => ({ kind: "process", column, ...rule });

/**
 * Rows of containers only: cAdvisor also prints the pod's sum (no container name), its pause container (`POD`) and
 * every slice of the machine, which would count the same CPU again.
 */
function entity(_kind: string, labels: Labels): EntityDraft | null {
  const pod = pick(labels, "pod", "pod_name");
  const namespace = pick(labels, "namespace", "kubernetes_namespace");
  let container = pick(labels, "container", "container_name");
  // Without Kubernetes (plain Docker) the container's name stands in `name`.
  if (container === "" && pod === "" && pick(labels, "image") !== "") container = pick(labels, "name");
  if (container === "" || container === "POD") return null;
  return {
    key: `container:${namespace}/${pod}/${container}`,
    labels: known({ role: "container", name: container, container, pod, namespace }),
  };
}

/** google/cadvisor, alone or inside of the kubelet (`/metrics/cadvisor`). */
export const CADVISOR_MAP: SourceMap = {
  source: "cadvisor",
  metrics: {
    container_cpu_usage_seconds_total: [
      group("cpu_s_total", { where: { cpu: ["total", "all", ""] }, prefer: 1 }),
      group("cpu_s_total", { except: { cpu: ["total", "all", ""] }, aggregate: "sum" }),
    ],
    container_cpu_cfs_periods_total: group("cfs_periods_total"),
    container_cpu_cfs_throttled_periods_total: group("cfs_throttled_periods_total"),
    container_cpu_cfs_throttled_seconds_total: group("cfs_throttled_s_total"),
    // No limit is 0, -1 or absent.
    container_spec_cpu_quota: group("cpu_limit_cores", { aggregate: "quotient", zero: "missing" }),
    container_spec_cpu_period: group("cpu_limit_cores", { aggregate: "quotient", zero: "missing", second: true }),
    container_memory_working_set_bytes: group("mem_bytes", { prefer: 1 }),
    container_memory_usage_bytes: group("mem_bytes"),
    container_memory_rss: group("rss_bytes"),
    container_spec_memory_limit_bytes: group("mem_limit_bytes", { zero: "missing", blank: "int64" }),
    container_memory_failures_total: group("major_faults_total", { where: { failure_type: "pgmajfault", scope: "container" } }),
    container_oom_events_total: group("oom_kills_total"),
    container_threads: group("threads"),
    container_pressure_cpu_waiting_seconds_total: group("psi_cpu_some_s_total"),
    container_pressure_memory_waiting_seconds_total: group("psi_mem_some_s_total"),
    container_pressure_io_waiting_seconds_total: group("psi_io_some_s_total"),
    container_start_time_seconds: group("start_time_s"),
  },
  entity,
};
