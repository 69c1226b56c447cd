import { readHost } from "../src/sim/host-reading.js";
import type { InferenceNode } from "../src/sim/inference-node.js";
import { POD } from "../src/sim/scenario.js";
import type { Family } from "./metric-family.js";

/** Counters as node_exporter and cAdvisor name them, for recordings. */
export function hostFamilies(node: InferenceNode, at_us: number): Family[] {
  const host = readHost(node, at_us);
  const pod = { container: POD.container, namespace: POD.namespace, pod: POD.pod };
  const counter = (name: string, help: string, samples: readonly (readonly [Record<string, string>, number, number])[]): Family => ({
    name,
    help,
    type: "counter",
    samples: samples.map(([labels, value, digits]) => ({ labels, value: value.toFixed(digits) })),
  });
  return [
    counter("node_cpu_seconds_total", "Seconds the CPUs spent in each mode.", [
      [{ cpu: "all", mode: "user" }, 100_000 + host.user_s, 2],
      [{ cpu: "all", mode: "system" }, 20_000 + host.system_s, 2],
      [{ cpu: "all", mode: "idle" }, 3e6 + host.idle_s, 2],
      [{ cpu: "all", mode: "iowait" }, 100, 2],
    ]),
    counter("node_pressure_cpu_waiting_seconds_total", "Total time in seconds that processes have waited for CPU time.", [
      [{}, host.psi_cpu_s, 3],
    ]),
    counter("node_network_transmit_bytes_total", "Network device statistic transmit_bytes.", [[{ device: "eth0" }, host.net_tx_bytes, 0]]),
    counter("container_cpu_usage_seconds_total", "Cumulative cpu time consumed in seconds.", [
      [{ ...pod, cpu: "total" }, 2000 + host.container_cpu_s, 3],
    ]),
    counter("container_cpu_cfs_periods_total", "Number of elapsed enforcement period intervals.", [[pod, host.cfs_periods, 0]]),
    counter("container_cpu_cfs_throttled_periods_total", "Number of throttled period intervals.", [[pod, host.cfs_throttled_periods, 0]]),
    counter("container_cpu_cfs_throttled_seconds_total", "Total time duration the container has been throttled.", [
      [pod, host.cfs_throttled_s, 3],
    ]),
    counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", [
      [{ namespace: POD.namespace, pod: POD.pod }, 100 + host.api.cpu_s, 2],
    ]),
  ];
}
