import type { VerdictClass } from "../../schemas/index.js";
import type { GroupRequests } from "./group-requests.js";
import type { ServerGroup } from "./server-groups.js";

/** Which kinds of telemetry a server has at all: what decides whether a rival class could have been seen. */
export interface Measured {
  readonly any: boolean;
  readonly pipes: boolean;
  readonly utilization: boolean;
  readonly kv: boolean;
  readonly cpu: boolean;
  readonly links: boolean;
  readonly transfer: boolean;
}

export const measuredOf = (group: ServerGroup): Measured => {
  const gpuHas = (...columns: string[]) => group.gpus.some((g) => columns.every((c) => g.some((t) => t.columns[c] !== undefined)));
  const transfer = group.servers.some(
    (t) => t.columns.kv_transfer_s_sum_total !== undefined || t.columns.kv_transfer_bytes_total !== undefined,
  );
  const fabric = group.links.some((l) => l.some((t) => ["infiniband", "roce"].includes(t.entity.labels.type ?? "")));
  return {
    any: group.gpus.length + group.servers.length + group.processes.length + group.hosts.length > 0,
    pipes: gpuHas("tensor_active_ratio", "dram_active_ratio"),
    utilization: gpuHas("gpu_util_ratio") || gpuHas("gr_engine_active_ratio") || gpuHas("sm_active_ratio"),
    kv: group.servers.some((t) => t.columns.kv_usage_ratio !== undefined),
    cpu: group.processes.length > 0 || group.hosts.length > 0 || group.servers.some((t) => t.columns.process_cpu_s_total !== undefined),
    links: fabric || gpuHas("nvlink_tx_bytes_per_s") || gpuHas("nvlink_tx_bytes_total") || gpuHas("nvlink_total_bytes_per_s"),
    transfer,
  };
};

/** A NIC that is used to this share of its speed carries more than requests and tokens. */
const NIC_USED = 0.1;
const NIC_READINGS = 3;

const usesNic = (group: ServerGroup): boolean =>
  group.links.some((tracks) =>
    tracks.some((t) => {
      const speed = t.columns.speed_bytes_per_s?.find((v) => v > 0) ?? Number.NaN;
      const counts = [t.columns.rx_bytes_total, t.columns.tx_bytes_total];
      return counts.some((c) => {
        let busy = 0;
        c?.forEach((v, i) => {
          if (i > 0 && (v - c[i - 1]!) / ((t.ts_us[i]! - t.ts_us[i - 1]!) / 1e6) >= NIC_USED * speed) busy++;
        });
        return busy >= NIC_READINGS;
      });
    }),
  );

/** Classes that are impossible by construction: one GPU and no transfer between instances has nothing to communicate. */
export const excludedClasses = (group: ServerGroup, q: GroupRequests): ReadonlySet<VerdictClass> => {
  const transfers = measuredOf(group).transfer || q.transfer.some((t) => Number.isFinite(t)) || usesNic(group);
  return group.groupQuality === 0 && !transfers ? new Set<VerdictClass>(["communication"]) : new Set();
};

/** True when the class could not have been seen: its key source is wholly missing. */
export const unmeasured = (c: VerdictClass, m: Measured): boolean => {
  switch (c) {
    case "kv_cache":
      return !m.kv;
    case "cpu_tokenization":
      return !m.cpu;
    case "communication":
      return !m.pipes && !m.links && !m.utilization;
    case "compute":
    case "bandwidth":
      return !m.pipes && !m.utilization;
    default:
      return false;
  }
};
