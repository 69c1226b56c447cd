import type { InferenceNode } from "../../src/sim/inference-node.js";
import { GPU } from "../../src/sim/inference-node.js";
import type { Family } from "../metric-family.js";

/** 400 Gb/s. */
const FABRIC_BYTES_PER_S = 50e9;
/** A tick of the wait counter, seconds. */
const TICK_S = 4e-9 * 8;

/** What node_exporter shows of the fabric or of the NIC that carries KV, counters at `at_us`. */
export function linkFamilies(node: InferenceNode, at_us: number): Family[] {
  const { server } = node.scenario;
  const families: Family[] = [];
  const add = (name: string, type: Family["type"], labels: Record<string, string>, value: number): void => {
    families.push({ name, help: "", type, samples: [{ labels, value: String(Math.round(value)) }] });
  };
  if (server.fabric) {
    const port = { device: "mlx5_0", port: "1" };
    const bytes = node.gpus[0]!.integral(GPU.link, at_us) / 1e6;
    add("node_infiniband_port_data_transmitted_bytes_total", "counter", port, bytes);
    add("node_infiniband_port_data_received_bytes_total", "counter", port, bytes);
    add("node_infiniband_rate_bytes_per_second", "gauge", port, FABRIC_BYTES_PER_S);
    add("node_infiniband_port_transmit_wait_total", "counter", port, waitedS(node, at_us) / TICK_S);
  }
  if (node.transfers) {
    const nic = { device: "eth1" };
    const bytes = node.transfers.rate.integral(0, at_us) / 1e6;
    add("node_network_receive_bytes_total", "counter", nic, bytes);
    add("node_network_transmit_bytes_total", "counter", nic, bytes * 0.01);
    add("node_network_speed_bytes", "gauge", nic, node.transfers.bytes_per_s);
    add("node_netstat_Tcp_RetransSegs", "counter", {}, 20 + 200 * waitedS(node, at_us));
    add("node_netstat_Tcp_OutSegs", "counter", {}, bytes / 1400);
  }
  return families;
}

/** Seconds with data to send and no credit: while the fabric is congested, the share of its bandwidth that is gone. */
function waitedS(node: InferenceNode, at_us: number): number {
  let seconds = 0;
  for (const f of node.faults)
    if (f.kind === "fabric_congestion" || f.kind === "pd_transfer")
      seconds += (Math.max(0, Math.min(at_us, f.end_us) - f.start_us) / 1e6) * 0.35 * (1 - f.magnitude);
  return seconds;
}
