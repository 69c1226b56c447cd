import type { Collector } from "../schemas/collector.js";
import { cgroup } from "./cgroup.js";
import { dcgmExporter } from "./dcgm-exporter.js";
import { host } from "./host.js";
import { infiniband } from "./infiniband.js";
import { network } from "./network.js";
import { nvidiaSmiDmon } from "./nvidia-smi-dmon.js";
import { nvidiaSmiInventory } from "./nvidia-smi-inventory.js";
import { nvidiaSmiNvlink } from "./nvidia-smi-nvlink.js";
import { nvidiaSmiQuery } from "./nvidia-smi-query.js";
import { serverMetrics } from "./server-metrics.js";
import { serverProcesses } from "./server-processes.js";
import { trtllmIterations } from "./trtllm-iterations.js";

/** Every collector. A new one is its file, one line here, its test and fixture folder, and a row of `docs/collectors.md`. */
export const COLLECTORS: readonly Collector[] = [
  dcgmExporter,
  nvidiaSmiQuery,
  nvidiaSmiDmon,
  nvidiaSmiNvlink,
  nvidiaSmiInventory,
  host,
  cgroup,
  serverProcesses,
  network,
  infiniband,
  serverMetrics,
  trtllmIterations,
];
