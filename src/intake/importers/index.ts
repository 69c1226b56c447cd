import { aiperf } from "./aiperf.js";
import { aiperfGpuTelemetry } from "./aiperf-gpu-telemetry.js";
import { aiperfServerMetrics } from "./aiperf-server-metrics.js";
import { guidellm } from "./guidellm.js";
import type { Importer } from "./importer.js";
import { openmetrics } from "./openmetrics.js";
import { otlpFile } from "./otlp-file.js";

/** Every importer, one file a format. */
export const IMPORTERS: readonly Importer[] = [aiperf, aiperfGpuTelemetry, aiperfServerMetrics, otlpFile, guidellm, openmetrics];
