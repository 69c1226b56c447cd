import { type EntityDraft, known, type Labels, type MapRule, pick } from "./source-map.js";

export const level = (column: string, rule: Partial<MapRule> = {}): MapRule => ({ kind: "server", column, aggregate: "max", ...rule });
export const total = (column: string, rule: Partial<MapRule> = {}): MapRule => ({ kind: "server", column, aggregate: "sum", ...rule });

/** Labels that name the server or the scrape; what is left tells the series of one server apart. */
export const SERVER_LABELS: readonly string[] = [
  ...["model_name", "name", "engine", "dp_rank", "tp_rank", "pp_rank", "moe_ep_rank", "pid", "engine_type", "priority"],
  ...["pod", "exported_pod", "namespace", "exported_namespace", "container", "exported_container", "service", "endpoint"],
  ...["instance", "exported_instance", "job", "exported_job", "node", "nodename", "Hostname", "hostname", "WorkerId", "worker_addr"],
  ...["ReplicaId", "SessionName", "NodeAddress", "Component", "Version", "deployment", "replica", "application"],
];

/** Tensor and pipeline ranks and worker processes show one scheduler's numbers again. */
export const SERVER_REPLICAS: readonly string[] = ["tp_rank", "pp_rank", "moe_ep_rank", "pid"];

/** One engine of a server: rank `0` where the version prints none. */
export function serverDraft(engine: string, rank: string, labels: Labels): EntityDraft {
  return {
    key: rank === "" ? "0" : rank,
    labels: known({
      engine,
      rank: rank === "" ? "0" : rank,
      model: pick(labels, "model_name", "name"),
      pod: pick(labels, "exported_pod", "pod"),
      namespace: pick(labels, "exported_namespace", "namespace"),
      container: pick(labels, "exported_container", "container"),
      instance: pick(labels, "worker_addr", "exported_instance", "instance"),
    }),
  };
}

/** Metrics of the process that serves a page, printed beside the engine's own and without its labels. */
export const COMPANIONS: Readonly<Record<string, MapRule>> = {
  process_cpu_seconds_total: total("process_cpu_s_total"),
  process_start_time_seconds: level("process_start_time_s", { zero: "missing" }),
};
