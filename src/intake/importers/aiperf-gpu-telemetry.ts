import type { Sample } from "../../../schemas/samples.js";
import { CheckedValues } from "../checked-values.js";
import { asNumber, asObject, asText } from "../exact-json.js";
import { isAnchored, nsToUs } from "../nanoseconds.js";
import { defineImporter } from "./importer.js";
import { readJsonLines } from "./json-lines.js";
import { RowBatch } from "./row-batch.js";

/** Column, key since AIPerf's vendor-neutral names, older key, and the factor from the file's unit (old one where it differs). */
const FIELDS: readonly (readonly [string, string, string, number, number?])[] = [
  ["power_w", "nvidia_power_usage", "gpu_power_usage", 1],
  ["energy_j_total", "nvidia_energy_consumption", "energy_consumption", 1e6],
  ["gpu_util_ratio", "nvidia_gpu_utilization", "gpu_utilization", 0.01],
  ["mem_util_ratio", "nvidia_memory_utilization", "mem_utilization", 0.01],
  ["fb_used_bytes", "nvidia_memory_used", "gpu_memory_used", 1e9],
  ["temp_c", "nvidia_temperature", "gpu_temperature", 1],
  ["xid", "nvidia_xid_errors", "xid_errors", 1],
  // Microseconds; older versions wrote DCGM's nanoseconds although they said microseconds.
  ["throttle_power_s_total", "nvidia_power_violation", "power_violation", 1e-6, 1e-9],
];
/** Percent of DCGM_FI_PROF_SM_ACTIVE; with the `pynvml:` source it may be another measure, so it is taken from DCGM alone. */
const SM_ACTIVE = ["sm_active_ratio", "nvidia_sm_utilization", "sm_utilization", 0.01] as const;

/** AIPerf's `gpu_telemetry_export.jsonl`: one line per GPU and scrape, stamped after the fetch. */
export const aiperfGpuTelemetry = defineImporter({
  name: "aiperf-gpu-telemetry",
  looks_for: "AIPerf GPU telemetry (lines with gpu_uuid and telemetry_data)",
  by_line: true,

  recognise(head) {
    return /^\s*\{/.test(head) && /"telemetry_data"\s*:\s*\{/.test(head) && /"gpu_(?:index|uuid)"\s*:/.test(head) ? 0.95 : 0;
  },

  async import(file, context) {
    const batches = new Map<string, RowBatch<Sample>>();
    const sourceOf = (node: string) =>
      ({ name: "aiperf-gpu-telemetry", node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null }) as const;
    const refuse = (reason: string, count = 1, node = context.node) => context.sink.rejected(sourceOf(node), reason, count);
    for await (const lines of readJsonLines(file, context.limits, refuse)) {
      for (const line of lines) {
        const read = gpuSample(line, context.node);
        if (typeof read === "string") {
          refuse(read);
          continue;
        }
        const { sample, refused } = read;
        const node = sample.entity.node;
        if (refused > 0) refuse("range", refused, node);
        let batch = batches.get(node);
        if (!batch) {
          batch = new RowBatch((rows) => context.sink.samples(sourceOf(node), rows));
          batches.set(node, batch);
        }
        if (Object.keys(sample.values).length > 0) batch.add(sample);
      }
    }
    for (const batch of batches.values()) batch.flush();
  },
});

function gpuSample(line: Readonly<Record<string, unknown>>, fallbackNode: string): { sample: Sample; refused: number } | string {
  const ts_us = nsToUs(line.timestamp_ns);
  if (ts_us === null || !isAnchored(ts_us)) return "timestamp";
  const key = asText(line.gpu_uuid);
  if (key === null) return "gpu_uuid";
  const data = asObject(line.telemetry_data) ?? {};
  const url = asText(line.telemetry_source_url) ?? asText(line.dcgm_url) ?? "";
  const checked = new CheckedValues("gpu");
  for (const [column, current, older, factor, olderFactor] of FIELDS) {
    const value = asNumber(data[current]);
    const before = value === null ? asNumber(data[older]) : null;
    checked.put(column, value !== null ? value * factor : before !== null ? before * (olderFactor ?? factor) : null);
  }
  if (!url.startsWith("pynvml:")) {
    const percent = asNumber(data[SM_ACTIVE[1]]) ?? asNumber(data[SM_ACTIVE[2]]);
    checked.put(SM_ACTIVE[0], percent === null ? null : percent * SM_ACTIVE[3]);
  }
  const node = asText(line.hostname) ?? hostOf(url) ?? fallbackNode;
  const sample: Sample = { entity: { kind: "gpu", node, key, labels: labelsOf(line) }, ts_us, epoch: 0, values: checked.values };
  return { sample, refused: checked.refused };
}

const LABELS: readonly (readonly [string, string])[] = [
  ["index", "gpu_index"],
  ["model", "gpu_model_name"],
  ["pci_bus_id", "pci_bus_id"],
  ["namespace", "namespace"],
  ["pod", "pod_name"],
];

function labelsOf(line: Readonly<Record<string, unknown>>): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [label, key] of LABELS) {
    const value = line[key];
    if (typeof value === "string" ? value !== "" : typeof value === "number") labels[label] = String(value);
  }
  return labels;
}

/** The host of a telemetry URL where it names one; a loopback address names none. */
function hostOf(url: string): string | null {
  const host = /^[a-z]+:\/\/([^/:]+)/i.exec(url)?.[1];
  return host === undefined || host === "localhost" || host.startsWith("127.") ? null : host;
}
