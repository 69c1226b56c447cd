import { performance } from "node:perf_hooks";
import { type GpuReading, readGpu } from "../src/sim/gpu-reading.js";
import { InferenceNode } from "../src/sim/inference-node.js";
import { Random } from "../src/sim/random.js";
import type { SimRequest } from "../src/sim/request.js";
import { FAULTS, type Fault, type FaultKind, type Scenario } from "../src/sim/scenario.js";
import { judge, type RequestTruth, undisturbedRun } from "../src/sim/truth.js";
import { dcgmFamilies } from "./dcgm-families.js";
import type { Family } from "./metric-family.js";

const TICK_MS = 50;

/** A fault as it was asked for: seconds from now. */
export interface FaultRequest {
  readonly kind: FaultKind;
  readonly magnitude: number;
  readonly in_s: number;
  readonly for_s: number;
  readonly rank?: number;
  readonly rate_per_s?: number;
}

export interface FaultTruth {
  readonly kind: FaultKind;
  readonly class: string;
  readonly cause: string;
  readonly start_us: number;
  readonly end_us: number;
}

/** The simulated node in real time: simulated microseconds since the start are real ones. */
export class LiveNode {
  /** Unix time of the start, µs. */
  readonly epoch_us = Date.now() * 1000;
  readonly node: InferenceNode;
  readonly noise: Random;
  private readonly startMs = performance.now();
  private readonly timer: NodeJS.Timeout;
  private readonly onFinished: ((requests: readonly SimRequest[]) => void)[] = [];
  private open: SimRequest[] = [];
  private seen = 0;
  private stopArrivals_us = Infinity;
  private dcgm: { at_us: number; families: Family[] } | null = null;

  constructor(
    private begun: Scenario,
    readonly gpus: number,
    private readonly collect_us: number,
  ) {
    this.node = new InferenceNode(begun);
    this.noise = new Random(begun.seed, "telemetry");
    this.timer = setInterval(() => this.advance(), TICK_MS);
  }

  get scenario(): Scenario {
    return this.begun;
  }

  /** Begins the workload now, when it was held back. What comes depends on the seed alone, not on how long that took. */
  begin(): void {
    const start_us = this.advance();
    this.node.begin(start_us);
    this.begun = { ...this.begun, start_us };
  }

  /** µs since the start. */
  nowUs(): number {
    return Math.round((performance.now() - this.startMs) * 1000);
  }

  /** Called with the requests that finished since the last time, in order of their end. */
  whenFinished(listener: (requests: readonly SimRequest[]) => void): void {
    this.onFinished.push(listener);
  }

  /** Brings the node to now and gives that time. */
  advance(): number {
    const now = Math.max(this.nowUs(), this.node.now_us);
    this.node.advance(now, this.stopArrivals_us);
    const { requests } = this.node;
    for (; this.seen < requests.length; this.seen++) this.open.push(requests[this.seen]!);
    const finished = this.open.filter((r) => r.end_us <= now && r.emit_us.length > 0).sort((a, b) => a.end_us - b.end_us);
    this.open = this.open.filter((r) => !(r.end_us <= now));
    if (finished.length > 0) for (const listener of this.onFinished) listener(finished);
    return now;
  }

  /** All GPUs over [from_us, to_us]. */
  readings(from_us: number, to_us: number): readonly GpuReading[] {
    return Array.from({ length: this.gpus }, (_, i) => readGpu(this.node, i, Math.max(0, from_us), to_us, this.noise));
  }

  /** What dcgm-exporter holds: the reading of the last full collect interval. */
  dcgmPage(): readonly Family[] {
    const now = this.advance();
    const at = Math.floor(now / this.collect_us) * this.collect_us;
    if (at > 0 && this.dcgm?.at_us !== at)
      this.dcgm = { at_us: at, families: dcgmFamilies(this.node, this.gpus, at - this.collect_us, at, this.noise) };
    return this.dcgm?.families ?? [];
  }

  setFault(request: FaultRequest): FaultTruth {
    const start_us = this.advance() + Math.max(1, request.in_s * 1e6);
    const { in_s: _in, for_s, ...rest } = request;
    const fault: Fault = { ...rest, start_us, end_us: start_us + for_s * 1e6 };
    this.node.addFault(fault);
    return this.faultTruth(fault);
  }

  clearFaults(): void {
    this.advance();
    this.node.clearFaults();
  }

  private faultTruth(fault: Fault): FaultTruth {
    return { kind: fault.kind, ...FAULTS[fault.kind], start_us: this.epoch_us + fault.start_us, end_us: this.epoch_us + fault.end_us };
  }

  /** No request arrives any more; those that are there are answered. */
  stopArrivals(): void {
    this.stopArrivals_us = Math.min(this.stopArrivals_us, this.advance());
  }

  /** Requests that are not answered yet. */
  pending(): number {
    this.advance();
    return this.open.length;
  }

  /** Faults as they were and what they did to the requests that are answered by now. */
  truth(): { readonly faults: readonly FaultTruth[]; readonly requests: readonly RequestTruth[] } {
    const now = this.advance();
    const twin = undisturbedRun(this.scenario, Math.min(now, this.stopArrivals_us));
    return { faults: this.node.faults.map((f) => this.faultTruth(f)), requests: judge(this.node, twin) };
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
