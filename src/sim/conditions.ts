import type { Fault, ServerOptions } from "./scenario.js";

/** CFS enforcement period, µs. */
export const CFS_PERIOD_US = 100_000;

/** What the active faults make of the machine at one moment. */
export interface Conditions {
  /** Share of the SM clock that is left, by rank. */
  readonly clock: readonly number[];
  /** Share of DRAM bandwidth that another tenant takes. */
  readonly stolen_dram: number;
  readonly link_share: number;
  /** µs that a rank is late, by rank. */
  readonly late_us: readonly number[];
  readonly pinned_kv: number;
  readonly tokenize_factor: number;
  /** Share of each CFS period in which the container may run; 1 = no throttling. */
  readonly run_share: number;
  /** Share of the GPU's time that is left to this server's kernels. */
  readonly gpu_share: number;
  /** Clocks are held down by a power cap. */
  readonly capped: boolean;
  readonly launch_factor: number;
  /** Bytes per second of PCIe over which all-reduces run; null = over the usual link. */
  readonly pcie_bytes_per_s: number | null;
  /** µs that a rank computes longer, by rank. */
  readonly extra_us: readonly number[];
  /** µs that belong to no resource, each step. */
  readonly capture_us: number;
  /** Share of cached prompt tokens that hits. */
  readonly hit_share: number;
  /** Share of the NIC's bandwidth that is left. */
  readonly nic_share: number;
}

/** What PCIe reaches between two GPUs without peer access, bytes/s. */
const PCIE_BYTES_PER_S = 20e9;

const isActive = (fault: Fault, at_us: number): boolean => at_us >= fault.start_us && at_us < fault.end_us;

/** What was found last for a list of faults: conditions change only when a fault begins or ends, and are asked for several times a step. */
const latest = new WeakMap<readonly Fault[], { readonly tp: number; readonly active: readonly Fault[]; readonly conditions: Conditions }>();

export function conditionsAt(faults: readonly Fault[], server: ServerOptions, at_us: number): Conditions {
  const known = latest.get(faults);
  if (known?.tp === server.tp) {
    let same = 0;
    for (const fault of faults) if (isActive(fault, at_us)) same = fault === known.active[same] ? same + 1 : Number.NaN;
    if (same === known.active.length) return known.conditions;
  }
  const active = faults.filter((fault) => isActive(fault, at_us));
  const conditions = conditionsOf(active, server);
  latest.set(faults, { tp: server.tp, active, conditions });
  return conditions;
}

function conditionsOf(faults: readonly Fault[], server: ServerOptions): Conditions {
  const clock = new Array<number>(server.tp).fill(1);
  const late_us = new Array<number>(server.tp).fill(0);
  let stolen_dram = 0;
  let link_share = 1;
  let pinned_kv = 0;
  let tokenize_factor = 1;
  let run_share = 1;
  const extra_us = new Array<number>(server.tp).fill(0);
  let gpu_share = 1;
  let capped = false;
  let launch_factor = 1;
  let pcie_bytes_per_s: number | null = null;
  let capture_us = 0;
  let hit_share = 1;
  let nic_share = 1;
  for (const fault of faults) {
    if (fault.kind === "thermal" || fault.kind === "power_cap") {
      capped ||= fault.kind === "power_cap";
      for (let rank = 0; rank < server.tp; rank++) if (fault.rank === undefined || fault.rank === rank) clock[rank] = fault.magnitude;
    } else if (fault.kind === "straggler") late_us[fault.rank ?? server.tp - 1] = fault.magnitude * 1000;
    else if (fault.kind === "bw_cotenant") stolen_dram = fault.magnitude;
    else if (fault.kind === "link_degraded" || fault.kind === "fabric_congestion") link_share = fault.magnitude;
    else if (fault.kind === "kv_full") pinned_kv = fault.magnitude;
    else if (fault.kind === "cpu_tokenize") tokenize_factor = fault.magnitude;
    else if (fault.kind === "cpu_throttle") run_share = fault.magnitude;
    else if (fault.kind === "gpu_cotenant") gpu_share = 1 - fault.magnitude;
    else if (fault.kind === "launch") launch_factor = fault.magnitude;
    else if (fault.kind === "topology_fallback") pcie_bytes_per_s = PCIE_BYTES_PER_S * fault.magnitude;
    else if (fault.kind === "hot_expert") extra_us[fault.rank ?? server.tp - 1] = fault.magnitude * 1000;
    else if (fault.kind === "warm_up") capture_us = fault.magnitude * 1000;
    else if (fault.kind === "prefix_thrash") hit_share = fault.magnitude;
    else if (fault.kind === "pd_transfer") nic_share = fault.magnitude;
  }
  return {
    ...{ clock, stolen_dram, link_share, late_us, pinned_kv, tokenize_factor, run_share, gpu_share, capped, launch_factor },
    ...{ pcie_bytes_per_s, extra_us, capture_us, hit_share, nic_share },
  };
}

/** When the server's processes move again; `at_us` itself where they do. */
export function pauseEnd(faults: readonly Fault[], at_us: number): number {
  let end = at_us;
  for (const fault of faults)
    if ((fault.kind === "pause" || fault.kind === "restart") && at_us >= fault.start_us && at_us < fault.end_us)
      end = Math.max(end, fault.end_us);
  return end;
}

/** When `work_us` of CPU time, begun at `at_us`, is done by a container that runs only in the first part of each CFS period. */
export function cpuEnd(faults: readonly Fault[], at_us: number, work_us: number): number {
  let now = at_us;
  let left = work_us;
  for (;;) {
    const fault = faults.find((f) => f.kind === "cpu_throttle" && now < f.end_us && f.start_us <= now);
    const next = faults.reduce((t, f) => (f.kind === "cpu_throttle" && f.start_us > now ? Math.min(t, f.start_us) : t), Infinity);
    if (!fault) {
      if (now + left <= next) return now + left;
      left -= next - now;
      now = next;
      continue;
    }
    const period = Math.floor(now / CFS_PERIOD_US) * CFS_PERIOD_US;
    const stop = Math.min(period + CFS_PERIOD_US * fault.magnitude, fault.end_us);
    if (now < stop) {
      if (now + left <= stop) return now + left;
      left -= stop - now;
    }
    now = Math.max(now, Math.min(period + CFS_PERIOD_US, fault.end_us));
  }
}
