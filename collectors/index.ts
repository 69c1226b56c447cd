import type { Collector } from "../schemas/collector.js";
import { dcgmExporter } from "./dcgm-exporter.js";
import { serverMetrics } from "./server-metrics.js";

/** Every collector. A new one is its file, one line here, its test and fixture folder, and a row of `docs/collectors.md`. */
export const COLLECTORS: readonly Collector[] = [dcgmExporter, serverMetrics];
