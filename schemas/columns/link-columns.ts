import { type ColumnSpec, counter, gauge, ratio } from "./column-spec.js";

/** Canonical columns of a NIC, an InfiniBand or RoCE port, an NVLink or a PCIe port (label `type`). */
export const LINK_COLUMNS: readonly ColumnSpec[] = [
  counter("rx_bytes_total", "Bytes received"),
  counter("tx_bytes_total", "Bytes sent"),
  gauge("speed_bytes_per_s", "instant", "Link speed per direction"),
  gauge("up", "instant", "1 when the link is up", 0, 1),
  counter("rx_errors_total", "Receive errors"),
  counter("tx_errors_total", "Transmit errors"),
  counter("rx_drops_total", "Received packets dropped"),
  counter("tx_drops_total", "Packets dropped before sending"),
  counter("xmit_wait_ticks_total", "Ticks with data to send but no credit (InfiniBand)"),
  ratio("xmit_wait_ratio", "interval", "Share of time without credit, where a source computes it"),
  counter("cnp_handled_total", "Congestion notifications handled (RoCE)"),
  counter("ecn_marked_total", "Packets marked for congestion (RoCE)"),
  counter("out_of_sequence_total", "Packets out of sequence (RDMA)"),
  counter("retries_total", "Retransmissions or acknowledgement timeouts (RDMA)"),
  counter("link_downed_total", "Times the link went down"),
];
