import type { RequestView } from "../../schemas/requests.js";
import type { Telemetry } from "../../schemas/telemetry.js";
import { InferenceNode } from "../../src/sim/inference-node.js";
import { type Physics, ROOFLINE } from "../../src/sim/physics.js";
import type { SimRequest } from "../../src/sim/request.js";
import type { Scenario } from "../../src/sim/scenario.js";
import { judge, type RequestTruth, undisturbedRun } from "../../src/sim/truth.js";
import { clientView, delivered, serverView } from "./request-views.js";
import type { Variation, Watch } from "./variation.js";
import { podOf, Watcher } from "./watcher.js";

/** A labelled run in memory: what the correlator reads, and the truth. */
export interface SimulatedRun {
  readonly views: readonly RequestView[];
  readonly telemetry: Telemetry;
  readonly truth: readonly RequestTruth[];
}

const EPOCH_US = 1_790_000_000e6;
const DRAIN_US = 120e6;

/** Simulates every server of the node, with and without the fault, and watches them as the variation says. */
export function simulateVariation(v: Variation, physics: Physics = ROOFLINE): SimulatedRun {
  return simulateWatched(v, [v.watch], physics)[0]!;
}

/** The same run watched in several ways at once. */
export function simulateWatched(v: Variation, watches: readonly Watch[], physics: Physics = ROOFLINE): SimulatedRun[] {
  const end_us = v.seconds * 1e6;
  const nodes = Array.from({ length: v.replicas }, (_, i) => new InferenceNode(scenarioOf(v, i), physics));
  const watchers = watches.map((w) => new Watcher(w, v.scenario.seed, EPOCH_US));
  for (;;) {
    const watcher = watchers.reduce((a, b) => (b.next_us < a.next_us ? b : a));
    if (watcher.next_us > end_us) break;
    for (const node of nodes) node.advance(watcher.next_us, end_us);
    watcher.scrape(nodes);
  }
  const twins = nodes.map((node) => {
    node.advance(end_us + DRAIN_US, end_us);
    return node.faults.length === 0 ? node : undisturbedRun(node.scenario, end_us, DRAIN_US, physics);
  });
  return watchers.map((watcher) => ({ ...requestsOf(watcher.watch, nodes, twins), telemetry: watcher.telemetry() }));
}

function scenarioOf(v: Variation, index: number): Scenario {
  if (index === 0) return v.scenario;
  return { ...v.scenario, seed: v.scenario.seed + 1000 * index, faults: [] };
}

function requestsOf(watch: Watch, nodes: readonly InferenceNode[], twins: readonly InferenceNode[]): Omit<SimulatedRun, "telemetry"> {
  const views: RequestView[] = [];
  const truth: RequestTruth[] = [];
  for (const [i, node] of nodes.entries()) {
    const seen = (r: SimRequest): readonly number[] => (watch.form === "otlp" ? r.emit_us : delivered(r, node.faults));
    const done = recorded(
      node.requests.filter((r) => r.end_us > 0 && r.emit_us.length > 0),
      watch,
      node.faults[0]?.start_us ?? 0,
    );
    const kept = new Set(done.map((r) => r.id));
    for (const t of judge(node, twins[i]!, seen)) if (kept.has(t.request_id)) truth.push(t);
    for (const r of done) {
      if (watch.form !== "otlp") views.push(clientView(r, EPOCH_US + watch.client_offset_s * 1e6, node.faults));
      if (watch.form !== "aiperf") views.push(serverView(r, EPOCH_US, podOf(i)));
    }
  }
  return { views, truth };
}

/** Two thirds of a short record lie before the fault. */
function recorded(requests: readonly SimRequest[], { requests: most }: Watch, fault_us: number): readonly SimRequest[] {
  if (most === undefined || requests.length <= most) return requests;
  const first = requests.findIndex((r) => r.at_us >= fault_us);
  const from = Math.max(0, Math.min(requests.length - most, first - Math.round((2 / 3) * most)));
  return requests.slice(from, from + most);
}
