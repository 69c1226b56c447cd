import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { GPUS } from "../src/sim/hardware.js";
import { InferenceNode } from "../src/sim/inference-node.js";
import { Random } from "../src/sim/random.js";
import { FAULTS, POD, type Scenario } from "../src/sim/scenario.js";
import { judge, undisturbedRun } from "../src/sim/truth.js";
import { dcgmFamilies } from "./dcgm-families.js";
import { hostFamilies } from "./host-families.js";
import { OpenMetricsRecording } from "./open-metrics-recording.js";
import { aiperfRecord, exportRequest, llmRequestSpan } from "./request-records.js";
import { vllmLevels } from "./vllm-families.js";

export interface Recording {
  readonly name: string;
  readonly scenario: Scenario;
  readonly seconds: number;
  readonly traces: "aiperf" | "otlp";
  readonly interval_s: number;
  /** Unix time of its start, µs. */
  readonly epoch_us: number;
}

const SPANS_A_LINE = 64;
const DRAIN_US = 120e6;

/**
 * Simulates a run as fast as it goes and writes it as users have such runs: requests (`profile_export.jsonl.gz` or
 * `traces.otlp.jsonl.gz`), telemetry (`telemetry.om.gz`) and the truth (`labels.json.gz`).
 */
export function recordRun(recording: Recording, folder: string): void {
  const { scenario, epoch_us } = recording;
  const node = new InferenceNode(scenario);
  const noise = new Random(scenario.seed, "telemetry");
  const om = new OpenMetricsRecording();
  const end_us = recording.seconds * 1e6;
  const pod = { namespace: POD.namespace, pod: POD.pod };
  for (let last = 0; last < end_us; ) {
    const at = last + recording.interval_s * 1e6 + Math.round(4000 * noise.normal());
    node.advance(at, end_us);
    om.add(dcgmFamilies(node, scenario.server.tp, last, at, noise, true), epoch_us + at);
    om.add(hostFamilies(node, at), epoch_us + at);
    om.add(vllmLevels(node, { start_s: 0, extra: pod }), epoch_us + at);
    last = at;
  }
  node.advance(end_us + DRAIN_US, end_us);
  const truth = judge(node, undisturbedRun(scenario, end_us, DRAIN_US));
  const done = node.requests.filter((r) => r.end_us > 0 && r.emit_us.length > 0);
  const fault = scenario.faults[0];
  const labels = {
    name: recording.name,
    family: fault?.kind ?? "none",
    cause: fault ? FAULTS[fault.kind].cause : null,
    fault_class: fault ? FAULTS[fault.kind].class : null,
    window_utc_s: fault ? [(epoch_us + fault.start_us) / 1e6, (epoch_us + fault.end_us) / 1e6] : null,
    options: { interval: recording.interval_s, gpuSource: "dcgm", engine: "vllm", traces: recording.traces, clientOffset: 0 },
    gpu: GPUS[scenario.server.gpu].name,
    model: scenario.server.model,
    tp: scenario.server.tp,
    requests: truth.map((t) => ({ request_id: t.request_id, spike: t.spike, ttft: t.ttft, e2e: t.e2e })),
  };
  fs.mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void => fs.writeFileSync(path.join(folder, `${name}.gz`), gzipSync(text, { level: 9 }));
  write("telemetry.om", om.text());
  write("labels.json", JSON.stringify(labels));
  if (recording.traces === "aiperf") write("profile_export.jsonl", `${done.map((r, i) => aiperfRecord(r, epoch_us, i)).join("\n")}\n`);
  else {
    const spans = done.sort((a, b) => a.end_us - b.end_us).map((r) => llmRequestSpan(r, epoch_us));
    const lines: string[] = [];
    for (let i = 0; i < spans.length; i += SPANS_A_LINE) lines.push(JSON.stringify(exportRequest(spans.slice(i, i + SPANS_A_LINE))));
    write("traces.otlp.jsonl", `${lines.join("\n")}\n`);
  }
}
