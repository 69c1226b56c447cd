import type { ResourceClass } from "../../schemas/report.js";
import { Arrivals } from "./arrivals.js";
import { conditionsAt, cpuEnd } from "./conditions.js";
import { FrontEnd } from "./front-end.js";
import { GPUS } from "./hardware.js";
import { newHistograms } from "./histogram.js";
import { Random } from "./random.js";
import { book, newRequest, type SimRequest } from "./request.js";
import { type Fault, kvBlocks, type Scenario } from "./scenario.js";
import { Scheduler, type StepPlan } from "./scheduler.js";
import { SignalHistory } from "./signal-history.js";
import { type StepCost, stepCost } from "./step-cost.js";

/** Channels of a GPU's history. */
export const GPU = { gr: 0, sm: 1, tensor: 2, dram: 3, power_w: 4, link: 5 } as const;
/** Channels of the server's CPU history, in cores: engine core process, all workers, time frozen by the CFS quota (0..1). */
export const CPU = { engine: 0, workers: 1, frozen: 2 } as const;

interface Step {
  readonly plan: StepPlan;
  readonly cost: StepCost;
  readonly start_us: number;
  readonly end_us: number;
  readonly shares: Readonly<Record<ResourceClass, number>>;
}

/**
 * One inference server on `tp` GPUs of a node, from physics; no clock: the caller moves time with `advance`.
 * Same scenario, same outcome. The workload's arrivals depend on the seed alone, so a run with a fault and one without compare request by request.
 */
export class InferenceNode {
  readonly faults: Fault[] = [];
  readonly front: FrontEnd;
  readonly scheduler: Scheduler;
  readonly histograms = newHistograms();
  readonly gpus: readonly SignalHistory[];
  readonly cpu = new SignalHistory(3);
  readonly counters = { prompt_tokens: 0, cached_tokens: 0, generation_tokens: 0, success: 0, refused: 0, steps: 0 };
  /** All requests in order of arrival. */
  readonly requests: SimRequest[] = [];
  now_us = 0;
  private readonly arrivals: Arrivals;
  private readonly random: Random;
  private readonly tokenizing: SimRequest[] = [];
  private step: Step | null = null;
  private boundary_us = 0;
  private lastShares: Readonly<Partial<Record<ResourceClass, number>>> = {};

  constructor(readonly scenario: Scenario) {
    this.arrivals = new Arrivals(scenario.seed, scenario.workload, scenario.start_us);
    this.random = new Random(scenario.seed, "steps");
    this.front = new FrontEnd(scenario.server, this.faults);
    this.scheduler = new Scheduler(scenario.server, kvBlocks(scenario.server));
    this.gpus = Array.from({ length: scenario.server.tp }, () => new SignalHistory(6));
    for (const fault of scenario.faults) this.addFault(fault);
  }

  /** Begins the workload that a scenario with `start_us: Infinity` held back. */
  begin(at_us: number): void {
    this.arrivals.begin(at_us);
  }

  /** Faults may be added while it runs, as long as they begin later than now. */
  addFault(fault: Fault): void {
    this.faults.push(fault);
    this.arrivals.addFault(fault);
  }

  /** Ends all faults now, or at their end when that comes first. */
  clearFaults(): void {
    for (let i = 0; i < this.faults.length; i++) {
      const fault = this.faults[i]!;
      if (fault.end_us > this.now_us) this.faults[i] = { ...fault, end_us: Math.max(fault.start_us, this.now_us) };
    }
  }

  /** Moves time to `to_us`; `stopArrivals_us` = no workload after it. */
  advance(to_us: number, stopArrivals_us = Infinity): void {
    for (;;) {
      const arrival = this.arrivals.nextUs();
      const arrivalAt = arrival < stopArrivals_us ? arrival : Infinity;
      const engineAt = this.step ? this.step.end_us : this.wakeUs();
      const at = Math.min(arrivalAt, engineAt);
      if (at > to_us) break;
      if (arrivalAt <= engineAt) this.arrive();
      else if (this.step) this.finishStep(this.step);
      else this.startStep(engineAt);
    }
    this.now_us = to_us;
    if (!this.step) this.idle(to_us);
  }

  /** When an idle engine has something to do. */
  private wakeUs(): number {
    if (this.scheduler.running.length + this.scheduler.waiting.length > 0) return this.retryUs;
    return this.tokenizing.length > 0 ? Math.max(this.boundary_us, this.tokenizing[0]!.tokenized_us) : Infinity;
  }

  private retryUs = Infinity;

  private arrive(): void {
    const request = newRequest(this.arrivals.take());
    request.tokenized_us = this.front.tokenize(request.at_us, request.prompt_tokens);
    book(request, "cpu_tokenization", request.tokenized_us - request.at_us);
    this.requests.push(request);
    this.tokenizing.push(request);
  }

  private admit(at_us: number): void {
    while (this.tokenizing.length > 0 && this.tokenizing[0]!.tokenized_us <= at_us) {
      const request = this.tokenizing.shift()!;
      const waited = at_us - request.tokenized_us;
      for (const cls in this.lastShares) book(request, cls as ResourceClass, waited * this.lastShares[cls as ResourceClass]!);
      request.queued_us = at_us;
      if (!this.scheduler.enqueue(request)) {
        request.end_us = at_us;
        this.counters.refused++;
      }
    }
  }

  private startStep(at_us: number): void {
    const { server } = this.scenario;
    this.boundary_us = at_us;
    this.retryUs = Infinity;
    this.admit(at_us);
    const before = conditionsAt(this.faults, server, at_us);
    this.scheduler.kv.setPinned(before.pinned_kv);
    const plan = this.scheduler.plan(at_us);
    if (!plan) {
      // Only a pool held by others stops an engine that has requests: look again soon.
      if (this.scheduler.waiting.length > 0) this.wait(at_us);
      return;
    }
    const work = stepCost(server, before, plan.work);
    const launched = cpuEnd(this.faults, at_us, work.launch_us);
    const cost = stepCost(server, conditionsAt(this.faults, server, launched), plan.work);
    const gpu_us = cost.gpu_us * Math.exp(0.02 * this.random.normal());
    const end_us = launched + gpu_us;
    const total = end_us - at_us;
    const shares = Object.fromEntries(
      Object.entries(cost.parts).map(([cls, us]) => [cls, (us * (gpu_us / cost.gpu_us)) / total]),
    ) as Record<ResourceClass, number>;
    shares.cpu_tokenization += (launched - at_us) / total;
    this.step = { plan, cost, start_us: at_us, end_us, shares };
    this.record(at_us, launched, end_us, cost);
  }

  private static readonly RETRY_US = 20_000;

  private wait(at_us: number): void {
    this.retryUs = at_us + InferenceNode.RETRY_US;
    for (const request of this.scheduler.waiting) book(request, "kv_cache", InferenceNode.RETRY_US);
  }

  private record(at_us: number, launched: number, end_us: number, cost: StepCost): void {
    this.idle(at_us);
    const { server } = this.scenario;
    const idle = this.idleLevels(at_us);
    const spin = server.tp > 1 ? server.tp : 0;
    const frozen = Math.max(0, launched - at_us - cost.launch_us) / (launched - at_us);
    for (const [rank, history] of this.gpus.entries()) {
      const levels = cost.ranks[rank]!;
      history.push(launched, idle);
      history.push(end_us, [1, levels.sm, levels.tensor, levels.dram, levels.power_w, levels.link_bytes_per_s]);
    }
    this.cpu.push(launched, [1 - frozen, spin * (1 - frozen), frozen]);
    this.cpu.push(end_us, [0.12, spin, 0]);
  }

  /** Another tenant works on the GPU while ours is idle. */
  private idleLevels(at_us: number): number[] {
    const { server } = this.scenario;
    const stolen = conditionsAt(this.faults, server, at_us).stolen_dram;
    const gpu = GPUS[server.gpu];
    return stolen > 0 ? [1, 0.6, 0.02, stolen * 0.8, gpu.tdp_w * 0.35, 0] : [0, 0, 0, 0, gpu.idle_w, 0];
  }

  private idle(to_us: number): void {
    for (const history of this.gpus) history.push(to_us, this.idleLevels(to_us));
    this.cpu.push(to_us, [0.02, 0, 0]);
  }

  private finishStep(step: Step): void {
    const { end_us, plan } = step;
    this.scheduler.book(plan, end_us - step.start_us, step.shares);
    this.lastShares = step.shares;
    for (const { request, prefill } of plan.parts) {
      if (prefill === 0 || request.generated > 0) continue;
      this.counters.prompt_tokens += prefill;
      if (request.computed === request.cached_tokens) {
        this.counters.prompt_tokens += request.cached_tokens;
        this.counters.cached_tokens += request.cached_tokens;
      }
    }
    const emitted = this.scheduler.apply(plan, end_us);
    this.counters.steps++;
    this.counters.generation_tokens += emitted.length;
    this.histograms.iteration_tokens.observe(plan.work.prefill_tokens + plan.work.decodes);
    const sent_us = emitted.length > 0 ? this.front.emit(end_us, emitted.length) : end_us;
    for (const request of emitted) this.emit(request, end_us, sent_us);
    this.step = null;
    this.boundary_us = end_us;
    if (this.scheduler.running.length + this.scheduler.waiting.length > 0) this.startStep(end_us);
  }

  private emit(request: SimRequest, engine_us: number, sent_us: number): void {
    const h = this.histograms;
    const last = request.emit_us[request.emit_us.length - 1];
    request.emit_us.push(sent_us);
    if (last === undefined) {
      request.first_waits.cpu_tokenization += sent_us - engine_us;
      h.ttft.observe((sent_us - request.at_us) / 1e6);
    } else h.itl.observe((sent_us - last) / 1e6);
    if (Number.isNaN(request.last_engine_us)) return;
    request.waits.cpu_tokenization += sent_us - engine_us;
    request.end_us = sent_us;
    this.counters.success++;
    h.e2e.observe((sent_us - request.at_us) / 1e6);
    h.queue.observe((request.scheduled_us - request.queued_us) / 1e6);
    h.prefill.observe((request.first_engine_us - request.scheduled_us) / 1e6);
    h.decode.observe((request.last_engine_us - request.first_engine_us) / 1e6);
    h.inference.observe((request.last_engine_us - request.scheduled_us) / 1e6);
    h.prompt_tokens.observe(request.prompt_tokens);
    h.generation_tokens.observe(request.output_tokens);
    if (request.output_tokens > 1) h.tpot.observe((sent_us - request.emit_us[0]!) / 1e6 / (request.output_tokens - 1));
  }
}
