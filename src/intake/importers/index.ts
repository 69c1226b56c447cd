import { aiperf } from "./aiperf.js";
import { aiperfGpuTelemetry } from "./aiperf-gpu-telemetry.js";
import { aiperfServerMetrics } from "./aiperf-server-metrics.js";
import { arrivalTrace } from "./arrival-trace.js";
import { guidellm } from "./guidellm.js";
import type { Importer } from "./importer.js";
import { inferencePerf } from "./inference-perf.js";
import { llmLoadTest } from "./llm-load-test.js";
import { llmperf } from "./llmperf.js";
import { mlperfLoadgen } from "./mlperf-loadgen.js";
import { ncclTests } from "./nccl-tests.js";
import { nvidiaSmiCsv } from "./nvidia-smi-csv.js";
import { nvidiaSmiDmon } from "./nvidia-smi-dmon.js";
import { openmetrics } from "./openmetrics.js";
import { otlpFile } from "./otlp-file.js";
import { perfAnalyzer } from "./perf-analyzer.js";
import { prometheusJson } from "./prometheus-json.js";
import { requestForm } from "./request-form.js";
import { sglangBench } from "./sglang-bench.js";
import { vllmBench } from "./vllm-bench.js";
import { vllmRequestMetrics } from "./vllm-request-metrics.js";

/** Every importer, one file a format. */
export const IMPORTERS: readonly Importer[] = [
  aiperf,
  aiperfGpuTelemetry,
  aiperfServerMetrics,
  otlpFile,
  guidellm,
  openmetrics,
  vllmBench,
  sglangBench,
  perfAnalyzer,
  inferencePerf,
  llmperf,
  llmLoadTest,
  mlperfLoadgen,
  vllmRequestMetrics,
  nvidiaSmiCsv,
  nvidiaSmiDmon,
  prometheusJson,
  requestForm,
  ncclTests,
  arrivalTrace,
];
