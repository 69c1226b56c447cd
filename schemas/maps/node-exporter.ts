import type { EntityKind } from "../columns/index.js";
import { type EntityDraft, type Labels, type MapRule, pick, type SourceMap } from "./source-map.js";

const host = (column: string, rule: Partial<MapRule> = {}): MapRule => ({ kind: "host", column, ...rule });
const link = (column: string, rule: Partial<MapRule> = {}): MapRule => ({ kind: "link", column, ...rule });
const cpu = (column: string, ...mode: readonly string[]): MapRule => host(column, { where: { mode }, aggregate: "sum" });
const disk = (column: string): MapRule => host(column, { aggregate: "sum" });

/** Devices that stand on others, or are no devices: summed, they would count the same bytes twice. */
const STACKED_DISK = /^(dm-|md|loop|z?ram|fd|sr)\d/;
/** Bridges, tunnels and containers' ends: their bytes pass a real port as well, or never leave the node. */
const VIRTUAL_NIC =
  /^(lo$|veth|docker|br-|virbr|cni|cali|cilium|lxc|flannel|tunl|tun|tap|vxlan|kube|nodelocal|dummy|ifb|sit|gre|bonding_masters)/;

function entity(kind: EntityKind, labels: Labels, metric: string): EntityDraft | null {
  const device = pick(labels, "device");
  if (kind === "link") {
    if (metric.startsWith("node_infiniband_")) {
      const port = pick(labels, "port") || "1";
      return device === "" ? null : { key: `ib:${device}/${port}`, labels: { type: "infiniband", name: device, port } };
    }
    return device === "" || VIRTUAL_NIC.test(device) ? null : { key: `nic:${device}`, labels: { type: "nic", name: device } };
  }
  if (metric.startsWith("node_disk_") && STACKED_DISK.test(device)) return null;
  return { key: "", labels: {} };
}

/** prometheus/node_exporter 1.x with its default collectors. */
export const NODE_EXPORTER_MAP: SourceMap = {
  source: "node_exporter",
  metrics: {
    node_cpu_seconds_total: [
      cpu("cpu_user_s_total", "user", "nice"),
      cpu("cpu_system_s_total", "system", "irq", "softirq"),
      cpu("cpu_idle_s_total", "idle"),
      cpu("cpu_iowait_s_total", "iowait"),
      cpu("cpu_steal_s_total", "steal"),
      host("cpu_count", { where: { mode: "idle" }, except: { cpu: ["all", "total", ""] }, aggregate: "count" }),
    ],
    node_load1: host("load1"),
    node_memory_MemTotal_bytes: host("mem_total_bytes"),
    node_memory_MemAvailable_bytes: host("mem_available_bytes"),
    node_memory_SwapTotal_bytes: host("swap_used_bytes", { aggregate: "difference" }),
    node_memory_SwapFree_bytes: host("swap_used_bytes", { aggregate: "difference", second: true }),
    node_vmstat_pswpin: host("swap_in_pages_total"),
    node_vmstat_pswpout: host("swap_out_pages_total"),
    node_vmstat_pgmajfault: host("major_faults_total"),
    node_vmstat_oom_kill: host("oom_kills_total"),
    node_context_switches_total: host("context_switches_total"),
    node_pressure_cpu_waiting_seconds_total: host("psi_cpu_some_s_total"),
    node_pressure_memory_waiting_seconds_total: host("psi_mem_some_s_total"),
    node_pressure_memory_stalled_seconds_total: host("psi_mem_full_s_total"),
    node_pressure_io_waiting_seconds_total: host("psi_io_some_s_total"),
    node_pressure_io_stalled_seconds_total: host("psi_io_full_s_total"),
    node_disk_read_bytes_total: disk("disk_read_bytes_total"),
    node_disk_written_bytes_total: disk("disk_written_bytes_total"),
    node_disk_io_time_seconds_total: disk("disk_io_s_total"),
    node_netstat_Tcp_OutSegs: host("tcp_out_segs_total"),
    node_netstat_Tcp_RetransSegs: host("tcp_retrans_segs_total"),
    node_netstat_TcpExt_ListenOverflows: host("tcp_listen_overflows_total"),
    node_netstat_TcpExt_ListenDrops: host("tcp_listen_drops_total"),
    node_netstat_Tcp_CurrEstab: host("tcp_established"),
    node_network_receive_bytes_total: link("rx_bytes_total"),
    node_network_transmit_bytes_total: link("tx_bytes_total"),
    node_network_speed_bytes: link("speed_bytes_per_s", { zero: "missing" }),
    node_network_up: link("up"),
    node_network_receive_errs_total: link("rx_errors_total"),
    node_network_transmit_errs_total: link("tx_errors_total"),
    node_network_receive_drop_total: link("rx_drops_total"),
    node_network_transmit_drop_total: link("tx_drops_total"),
    node_infiniband_port_data_received_bytes_total: link("rx_bytes_total"),
    node_infiniband_port_data_transmitted_bytes_total: link("tx_bytes_total"),
    node_infiniband_rate_bytes_per_second: link("speed_bytes_per_s", { zero: "missing" }),
    node_infiniband_port_errors_received_total: link("rx_errors_total"),
    node_infiniband_port_discards_received_total: link("rx_drops_total"),
    node_infiniband_port_discards_transmitted_total: link("tx_drops_total"),
    node_infiniband_port_transmit_wait_total: link("xmit_wait_ticks_total"),
    node_infiniband_link_downed_total: link("link_downed_total"),
  },
  entity,
};
