import type { Telemetry } from "../../schemas/telemetry.js";
import type { InferenceNode } from "../../src/sim/inference-node.js";
import { Random } from "../../src/sim/random.js";
import { hostFamilies } from "../host-families.js";
import { gpuFamilies } from "./gpu-flavours.js";
import { linkFamilies } from "./link-flavours.js";
import { MemoryTelemetry } from "./memory-telemetry.js";
import { serverFamilies } from "./server-flavours.js";
import type { Watch } from "./variation.js";

type Labels = Readonly<Record<string, string>>;

export const podOf = (index: number): string => `llm-${index}`;

/** Scrapes the node's exporters as one `Watch` says, while somebody else moves the node's time. */
export class Watcher {
  /** Time of the next scrape, µs since the simulation's start. */
  next_us: number;
  private last_us: number;
  private readonly noise: Random;
  private readonly lost: Random;
  private readonly memory = new MemoryTelemetry();
  private readonly epoch_us: number;

  constructor(
    readonly watch: Watch,
    seed: number,
    private readonly start_us: number,
  ) {
    this.noise = new Random(seed, "telemetry");
    this.lost = new Random(seed, "loss");
    this.epoch_us = start_us + (watch.telemetry_offset_s ?? 0) * 1e6;
    this.last_us = Math.round(-watch.interval_s * 1e6 * this.noise.next());
    this.next_us = this.after(this.last_us);
    while (this.next_us <= 0) this.skip();
  }

  private after(at_us: number): number {
    const every_us = this.watch.interval_s * 1e6;
    return Math.round(at_us + every_us + Math.min(4000, 0.02 * every_us) * this.noise.normal());
  }

  private skip(): void {
    this.last_us = this.next_us;
    this.next_us = this.after(this.last_us);
  }

  /** Reads everything at `next_us`, to which the nodes must have been advanced. */
  scrape(nodes: readonly InferenceNode[]): void {
    const { inputs, lag_s, loss, engine } = this.watch;
    const at = this.next_us;
    const from = Math.max(0, this.last_us);
    this.skip();
    const keeps = { gpu: this.lost.next() >= loss, server: this.lost.next() >= loss, host: this.lost.next() >= loss };
    const stamp = this.epoch_us + at;
    let gpus = 0;
    for (const [i, node] of nodes.entries()) {
      const pod = podOf(i);
      const first = gpus;
      gpus += node.gpus.length;
      const relabel = (labels: Labels): Labels => placed(labels, pod, first);
      if (keeps.gpu) this.memory.add(gpuFamilies(node, inputs, from, at, this.noise), stamp + Math.round(lag_s * 1e6), pod, relabel);
      if (inputs.server && keeps.server) this.memory.add(serverFamilies(node, engine, pod, this.start_us), stamp, pod);
      if (!keeps.host) continue;
      if (inputs.host) this.memory.add(hostOf(node, at, i === 0), stamp, `${pod}/host`, relabel);
      if (inputs.links) this.memory.add(linkFamilies(node, at), stamp, `${pod}/links`);
    }
  }

  telemetry(): Telemetry {
    return this.memory.telemetry();
  }
}

/** The node's own counters are shown once; the front end's CPU stands on the server's page. */
const hostOf = (node: InferenceNode, at_us: number, first: boolean) =>
  hostFamilies(node, at_us).filter((f) => (first || !f.name.startsWith("node_")) && f.name !== "process_cpu_seconds_total");

/** Labels of the server `pod`, whose first GPU is the node's GPU number `first`. */
function placed(labels: Labels, pod: string, first: number): Labels {
  const out: Record<string, string> = { ...labels };
  if (out.pod !== undefined) out.pod = pod;
  if (first > 0 && out.gpu !== undefined) {
    out.gpu = String(Number(out.gpu) + first);
    out.device = `nvidia${out.gpu}`;
    out.pci_bus_id = `00000000:${(0x10 + Number(out.gpu) * 0x10).toString(16).toUpperCase().padStart(2, "0")}:00.0`;
  } else if (first > 0 && out.index !== undefined) out.index = String(Number(out.index) + first);
  return out;
}
