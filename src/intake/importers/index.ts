import { aiperf } from "./aiperf.js";
import { aiperfGpuTelemetry } from "./aiperf-gpu-telemetry.js";
import { guidellm } from "./guidellm.js";
import type { Importer } from "./importer.js";
import { otlpFile } from "./otlp-file.js";

/** Every importer, one file a format. */
export const IMPORTERS: readonly Importer[] = [aiperf, aiperfGpuTelemetry, otlpFile, guidellm];
