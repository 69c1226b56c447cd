import { RESOURCE_CLASSES, type VerdictClass } from "../../schemas/report.js";
import { Arrivals } from "./arrivals.js";
import { type Conditions, conditionsAt, cpuEnd, pauseEnd } from "./conditions.js";
import { FrontEnd } from "./front-end.js";
import { GPUS } from "./hardware.js";
import { newHistograms } from "./histogram.js";
import { type Physics, ROOFLINE } from "./physics.js";
import { Random } from "./random.js";
import { remotePrefillUs } from "./remote-prefill.js";
import { book, newRequest, type SimRequest } from "./request.js";
import { type Fault, kvBlocks, type Scenario } from "./scenario.js";
import { Scheduler, type StepPlan } from "./scheduler.js";
import { SignalHistory } from "./signal-history.js";
import { type StepCost, TENANT } from "./step-cost.js";
import { Transfers } from "./transfers.js";

/** Channels of a GPU's history. */
export const GPU = { gr: 0, sm: 1, tensor: 2, dram: 3, power_w: 4, link: 5 } as const;
/** Channels of the server's CPU history, in cores: engine core process, all workers, time frozen by the CFS quota (0..1). */
export const CPU = { engine: 0, workers: 1, frozen: 2 } as const;

interface Step {
  readonly plan: StepPlan;
  readonly cost: StepCost;
  readonly start_us: number;
  readonly end_us: number;
  readonly shares: Readonly<Partial<Record<VerdictClass, number>>>;
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
  readonly transfers: Transfers | null;
  /** Starts of the server's process after the first, and what its counters had come to. */
  readonly restarts: {
    readonly down_us: number;
    readonly up_us: number;
    readonly counters: InferenceNode["counters"];
    readonly preemptions: number;
  }[] = [];
  /** Prompt tokens of the other data-parallel rank. */
  peer_prompt_tokens = 0;
  readonly counters = { prompt_tokens: 0, cached_tokens: 0, generation_tokens: 0, success: 0, refused: 0, steps: 0 };
  /** All requests in order of arrival. */
  readonly requests: SimRequest[] = [];
  now_us = 0;
  private readonly arrivals: Arrivals;
  private readonly random: Random;
  private readonly tokenizing: SimRequest[] = [];
  private step: Step | null = null;
  private boundary_us = 0;
  private lastShares: Readonly<Partial<Record<VerdictClass, number>>> = {};

  constructor(
    readonly scenario: Scenario,
    readonly physics: Physics = ROOFLINE,
  ) {
    this.arrivals = new Arrivals(scenario.seed, scenario.workload, scenario.start_us);
    this.random = new Random(scenario.seed, "steps");
    this.front = new FrontEnd(scenario.server, this.faults, physics.front);
    this.scheduler = new Scheduler(scenario.server, kvBlocks(scenario.server));
    const nic = scenario.server.pd_nic_bytes_per_s;
    this.transfers = nic === undefined ? null : new Transfers(scenario.server, this.faults, nic);
    const gpus = scenario.server.tp + (scenario.server.dp_peer ? 1 : 0);
    this.gpus = Array.from({ length: gpus }, () => new SignalHistory(6));
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
    const arrival = this.arrivals.take();
    const hit = conditionsAt(this.faults, this.scenario.server, arrival.at_us).hit_share;
    const request = newRequest(
      hit < 1 && !arrival.injected ? { ...arrival, cached_tokens: Math.floor(arrival.cached_tokens * hit) } : arrival,
    );
    request.tokenized_us = this.front.tokenize(request.at_us, request.prompt_tokens);
    const moves = Math.min(pauseEnd(this.faults, request.at_us), request.tokenized_us);
    if (moves > request.at_us) book(request, "indeterminate", moves - request.at_us);
    book(request, "cpu_tokenization", request.tokenized_us - moves);
    this.requests.push(request);
    this.tokenizing.push(request);
  }

  private admit(at_us: number): void {
    while (this.tokenizing.length > 0 && this.tokenizing[0]!.tokenized_us <= at_us) {
      const request = this.tokenizing.shift()!;
      const waited = at_us - request.tokenized_us;
      for (const cls in this.lastShares) book(request, cls as VerdictClass, waited * this.lastShares[cls as VerdictClass]!);
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
    const moves = pauseEnd(this.faults, at_us);
    if (moves > at_us) {
      this.pause(at_us, moves);
      return;
    }
    const before = conditionsAt(this.faults, server, at_us);
    this.scheduler.kv.setPinned(before.pinned_kv);
    const plan = this.scheduler.plan(at_us);
    if (!plan) {
      // Only a pool held by others stops an engine that has requests: look again soon.
      if (this.scheduler.running.length > 0) this.awaitTransfer(at_us);
      else if (this.scheduler.waiting.length > 0) this.wait(at_us);
      return;
    }
    const work = this.physics.stepCost(server, before, plan.work);
    const launched = cpuEnd(this.faults, at_us, work.launch_us);
    const after = conditionsAt(this.faults, server, launched);
    const cost = this.physics.stepCost(server, after, plan.work);
    const gpu_us = cost.gpu_us * this.physics.stepNoise(this.random);
    const end_us = launched + gpu_us + after.capture_us + this.remoteUs(launched, gpu_us);
    const total = end_us - at_us;
    const shares: Partial<Record<VerdictClass, number>> = {};
    for (const cls of RESOURCE_CLASSES) shares[cls] = (cost.parts[cls] * (gpu_us / cost.gpu_us)) / total;
    shares.cpu_tokenization! += (launched - at_us) / total;
    if (after.capture_us > 0) shares.indeterminate = after.capture_us / total;
    shares.compute! += (end_us - launched - gpu_us - after.capture_us) / total;
    this.step = { plan, cost, start_us: at_us, end_us, shares };
    this.record(at_us, launched, launched + gpu_us, cost);
    this.recordTail(launched + gpu_us, end_us, after);
  }

  /** How much longer a step lasts because the other rank computes a prompt. */
  private remoteUs(at_us: number, own_us: number): number {
    const { server } = this.scenario;
    if (!server.dp_peer) return 0;
    const remote = remotePrefillUs(this.faults, server, this.physics, at_us);
    if (remote.tokens > 0) this.peer_prompt_tokens += remote.tokens;
    return Math.max(0, remote.step_us - own_us);
  }

  /** The rest of a step in which our own GPU only waits. */
  private recordTail(from_us: number, end_us: number, now: Conditions): void {
    if (end_us <= from_us) return;
    const { server } = this.scenario;
    const tdp = GPUS[server.gpu].tdp_w;
    const remote = server.dp_peer && now.capture_us === 0;
    for (const [i, history] of this.gpus.entries())
      history.push(
        end_us,
        !remote
          ? [0.3, 0.1, 0.01, 0.05, tdp * 0.2, 0]
          : i < server.tp
            ? [1, 0.86, 0.03, 0.06, tdp * 0.36, 0]
            : [1, 0.93, 0.5, 0.3, tdp * 0.85, 0],
      );
    this.cpu.push(end_us, [0.9, 0, 0]);
  }

  /** Nothing of the server moves until `until_us`; a restart also loses every running request's KV. */
  private pause(at_us: number, until_us: number): void {
    this.retryUs = until_us;
    this.boundary_us = until_us;
    const restart = this.faults.find((f) => f.kind === "restart" && at_us >= f.start_us && at_us < f.end_us);
    if (restart && this.restarts.at(-1)?.up_us !== restart.end_us) {
      while (this.scheduler.running.length > 0) this.scheduler.preempt();
      const counters = { ...this.counters };
      this.restarts.push({ down_us: at_us, up_us: restart.end_us, counters, preemptions: this.scheduler.preemptions });
    }
    for (const request of [...this.scheduler.running, ...this.scheduler.waiting]) book(request, "indeterminate", until_us - at_us);
  }

  private awaitTransfer(at_us: number): void {
    const { running, waiting } = this.scheduler;
    this.retryUs = Math.max(at_us + 1, Math.min(...running.map((r) => r.ready_us)));
    for (const request of [...running, ...waiting]) book(request, "communication", this.retryUs - at_us);
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
      const levels = cost.ranks[Math.min(rank, cost.ranks.length - 1)]!;
      history.push(launched, idle);
      history.push(end_us, [1, levels.sm, levels.tensor, levels.dram, levels.power_w, levels.link_bytes_per_s]);
    }
    this.cpu.push(launched, [1 - frozen, spin * (1 - frozen), frozen]);
    this.cpu.push(end_us, [0.12, spin, 0]);
  }

  /** Another tenant works on the GPU while ours is idle. */
  private idleLevels(at_us: number): number[] {
    const { server } = this.scenario;
    const { stolen_dram: stolen, gpu_share } = conditionsAt(this.faults, server, at_us);
    const gpu = GPUS[server.gpu];
    if (gpu_share < 1) return [1, TENANT.sm, TENANT.tensor, TENANT.dram, gpu.tdp_w * TENANT.power, 0];
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
    for (const request of emitted) {
      this.emit(request, end_us, sent_us);
      if (this.transfers && request.generated === 1 && request.output_tokens > 1)
        request.ready_us = this.transfers.ready(end_us, request.prompt_tokens);
    }
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
