import type { RequestView } from "../../schemas/requests.js";
import type { Telemetry } from "../../schemas/telemetry.js";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { type Physics, ROOFLINE } from "../../src/sim/physics.js";
import { Random } from "../../src/sim/random.js";
import type { SimRequest } from "../../src/sim/request.js";
import type { Scenario } from "../../src/sim/scenario.js";
import { judge, type RequestTruth, undisturbedRun } from "../../src/sim/truth.js";
import { hostFamilies } from "../host-families.js";
import { gpuFamilies } from "./gpu-flavours.js";
import { linkFamilies } from "./link-flavours.js";
import { MemoryTelemetry } from "./memory-telemetry.js";
import { clientView, delivered, serverView } from "./request-views.js";
import { serverFamilies } from "./server-flavours.js";
import type { Variation } from "./variation.js";

/** A labelled run in memory: what the correlator reads, and the truth. */
export interface SimulatedRun {
  readonly variation: Variation;
  readonly views: readonly RequestView[];
  readonly telemetry: Telemetry;
  readonly truth: readonly RequestTruth[];
}

const EPOCH_US = 1_790_000_000e6;
const DRAIN_US = 120e6;

const podOf = (index: number): string => `llm-${index}`;

function scenarioOf(v: Variation, index: number): Scenario {
  if (index === 0) return v.scenario;
  return { ...v.scenario, seed: v.scenario.seed + 1000 * index, faults: [] };
}

/** Simulates every server of the node, with and without the fault, and watches them as the variation says. */
export function simulateVariation(v: Variation, physics: Physics = ROOFLINE): SimulatedRun {
  const end_us = v.seconds * 1e6;
  const nodes = Array.from({ length: v.replicas }, (_, i) => new InferenceNode(scenarioOf(v, i), physics));
  const telemetry = watch(v, nodes, end_us);
  const views: RequestView[] = [];
  const truth: RequestTruth[] = [];
  for (const [i, node] of nodes.entries()) {
    node.advance(end_us + DRAIN_US, end_us);
    const seen = (r: SimRequest): readonly number[] => (v.watch.form === "otlp" ? r.emit_us : delivered(r, node.faults));
    const twin = node.faults.length === 0 ? node : undisturbedRun(node.scenario, end_us, DRAIN_US, physics);
    let done = node.requests.filter((r) => r.end_us > 0 && r.emit_us.length > 0);
    if (v.requests !== undefined) done = done.slice(0, v.requests);
    const kept = new Set(done.map((r) => r.id));
    for (const t of judge(node, twin, seen)) if (kept.has(t.request_id)) truth.push(t);
    for (const r of done) {
      if (v.watch.form !== "otlp") views.push(clientView(r, EPOCH_US + v.watch.client_offset_s * 1e6, node.faults));
      if (v.watch.form !== "aiperf") views.push(serverView(r, EPOCH_US, podOf(i)));
    }
  }
  return { variation: v, views, telemetry, truth };
}

function watch(v: Variation, nodes: readonly InferenceNode[], end_us: number): Telemetry {
  const { inputs, interval_s, lag_s, loss, engine, telemetry_offset_s = 0 } = v.watch;
  const noise = new Random(v.scenario.seed, "telemetry");
  const lost = new Random(v.scenario.seed, "loss");
  const memory = new MemoryTelemetry();
  const epoch_us = EPOCH_US + telemetry_offset_s * 1e6;
  const every_us = interval_s * 1e6;
  const jitter_us = Math.min(4000, 0.02 * every_us);
  let last = Math.round(-every_us * noise.next());
  while (last < end_us) {
    const at = Math.round(last + every_us + jitter_us * noise.normal());
    const from = Math.max(0, last);
    last = at;
    if (at <= 0) continue;
    const keeps = { gpu: lost.next() >= loss, server: lost.next() >= loss, host: lost.next() >= loss };
    let gpu = 0;
    for (const [i, node] of nodes.entries()) {
      node.advance(at, end_us);
      const pod = podOf(i);
      const first = gpu;
      gpu += node.gpus.length;
      const relabel = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> => placed(labels, pod, first);
      if (keeps.gpu) memory.add(gpuFamilies(node, inputs, from, at, noise), epoch_us + at + Math.round(lag_s * 1e6), pod, relabel);
      if (inputs.server && keeps.server) memory.add(serverFamilies(node, engine, pod, epoch_us), epoch_us + at, pod);
      if (keeps.host && (inputs.host || inputs.links)) {
        const all = hostFamilies(node, at);
        const families = inputs.host
          ? all.filter((f) => (i === 0 || !f.name.startsWith("node_")) && f.name !== "process_cpu_seconds_total")
          : [];
        memory.add(families, epoch_us + at, `${pod}/host`, relabel);
        if (inputs.links) memory.add(linkFamilies(node, at), epoch_us + at, `${pod}/links`);
      }
    }
  }
  return memory.telemetry();
}

/** Labels of the server `pod`, whose first GPU is the node's GPU number `first`. */
function placed(labels: Readonly<Record<string, string>>, pod: string, first: number): Readonly<Record<string, string>> {
  const out: Record<string, string> = { ...labels };
  if (out.pod !== undefined) out.pod = pod;
  if (first > 0 && out.gpu !== undefined) {
    out.gpu = String(Number(out.gpu) + first);
    out.device = `nvidia${out.gpu}`;
    out.pci_bus_id = `00000000:${(0x10 + Number(out.gpu) * 0x10).toString(16).toUpperCase().padStart(2, "0")}:00.0`;
  } else if (first > 0 && out.index !== undefined) out.index = String(Number(out.index) + first);
  return out;
}
