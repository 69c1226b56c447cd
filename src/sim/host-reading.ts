import { CFS_PERIOD_US } from "./conditions.js";
import { CPU, type InferenceNode } from "./inference-node.js";

export const HOST_CPUS = 32;
export const NORMAL_QUOTA_CORES = 16;
const OTHER_CORES = 0.55;
const SYSTEM_SHARE = 0.1;
const NET_BYTES_PER_TOKEN = 220;

/** CPU seconds of one process since its start, and seconds that its threads waited for a CPU. */
export interface ProcessCpu {
  readonly cpu_s: number;
  readonly wait_s: number;
}

/** Counters of the host and of the server's container at one moment. */
export interface HostReading {
  readonly user_s: number;
  readonly system_s: number;
  readonly idle_s: number;
  readonly psi_cpu_s: number;
  readonly container_cpu_s: number;
  readonly container_psi_s: number;
  readonly cfs_periods: number;
  readonly cfs_throttled_periods: number;
  readonly cfs_throttled_s: number;
  /** CPU limit in force, cores. */
  readonly quota_cores: number;
  readonly api: ProcessCpu;
  readonly engine: ProcessCpu;
  /** Each tensor-parallel worker. */
  readonly worker: ProcessCpu;
  readonly net_tx_bytes: number;
  readonly net_rx_bytes: number;
}

export function readHost(node: InferenceNode, at_us: number): HostReading {
  const { tp } = node.scenario.server;
  const seconds = at_us / 1e6;
  const api = node.front.cpu.integral(0, at_us) / 1e6;
  const engine = node.cpu.integral(CPU.engine, at_us) / 1e6;
  const workers = node.cpu.integral(CPU.workers, at_us) / 1e6;
  const container = api + engine + workers;
  let throttled_periods = 0;
  let frozen_s = 0;
  let quota = NORMAL_QUOTA_CORES;
  for (const fault of node.faults) {
    if (fault.kind !== "cpu_throttle" || at_us <= fault.start_us) continue;
    const until = Math.min(at_us, fault.end_us);
    throttled_periods += Math.floor(until / CFS_PERIOD_US) - Math.floor(fault.start_us / CFS_PERIOD_US);
    frozen_s += ((until - fault.start_us) / 1e6) * (1 - fault.magnitude);
    if (at_us < fault.end_us) quota = Math.round((1 + tp) * fault.magnitude * 100) / 100;
  }
  const other = OTHER_CORES * seconds;
  const busy = other + container;
  const tokens = node.counters.generation_tokens;
  return {
    user_s: busy * (1 - SYSTEM_SHARE),
    system_s: busy * SYSTEM_SHARE,
    idle_s: Math.max(0, HOST_CPUS * seconds - busy),
    psi_cpu_s: 0.004 * seconds + 0.5 * frozen_s,
    container_cpu_s: container,
    container_psi_s: 0.002 * seconds + frozen_s,
    cfs_periods: Math.floor(at_us / CFS_PERIOD_US),
    cfs_throttled_periods: throttled_periods,
    cfs_throttled_s: frozen_s * (1 + (tp > 1 ? tp : 0)),
    quota_cores: quota,
    api: { cpu_s: api, wait_s: 0.001 * seconds + frozen_s },
    engine: { cpu_s: engine, wait_s: 0.001 * seconds + frozen_s },
    worker: { cpu_s: workers / tp, wait_s: 0.001 * seconds + frozen_s },
    net_tx_bytes: 1e9 + tokens * NET_BYTES_PER_TOKEN + 40_000 * seconds,
    net_rx_bytes: 1e9 + node.counters.prompt_tokens * 5 + 40_000 * seconds,
  };
}
