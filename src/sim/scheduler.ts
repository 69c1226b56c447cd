import { KvPool } from "./kv-pool.js";
import { book, type SimRequest } from "./request.js";
import type { ServerOptions } from "./scenario.js";
import type { StepWork } from "./step-cost.js";

export interface StepPlan {
  readonly work: StepWork;
  /** Requests that emit or compute in this step, with the prompt tokens each computes (0 = decodes). */
  readonly parts: readonly { readonly request: SimRequest; readonly prefill: number }[];
  /** Why the first waiting request was not admitted; null when none waits or the step was full. */
  readonly blocked: "kv" | "limit" | null;
}

/**
 * Continuous batching in the manner of vLLM V1: running requests first, then admission in order of arrival while the token
 * budget, the sequence limit and the KV pool allow; a decode without a free block preempts the youngest running request,
 * which is computed anew later. With chunked prefill off, a step with prompts holds back all decodes.
 */
export class Scheduler {
  readonly waiting: SimRequest[] = [];
  readonly running: SimRequest[] = [];
  readonly kv: KvPool;
  preemptions = 0;

  constructor(
    private readonly server: ServerOptions,
    blocks: number,
  ) {
    this.kv = new KvPool(blocks);
  }

  /** Tokens whose KV entries must exist before the next token comes out. */
  private static target(request: SimRequest): number {
    return request.prompt_tokens + request.generated;
  }

  private static needsPrefill(request: SimRequest): boolean {
    return request.generated === 0 || request.computed < Scheduler.target(request) - 1;
  }

  /** Refuses what can never fit; true when it was taken. */
  enqueue(request: SimRequest): boolean {
    if (KvPool.blocksFor(request.prompt_tokens + request.output_tokens) > this.kv.total) return false;
    this.waiting.push(request);
    return true;
  }

  /** The youngest running request loses its KV and waits again. */
  preempt(): void {
    const victim = this.running.pop()!;
    this.kv.release(victim);
    victim.computed = 0;
    victim.preemptions++;
    this.preemptions++;
    this.waiting.unshift(victim);
  }

  /** Makes room for one more token of `request`; false when it was itself the youngest and had to go. */
  private roomFor(request: SimRequest): boolean {
    while (!this.kv.grow(request, Scheduler.target(request) + 1)) {
      const self = this.running[this.running.length - 1] === request;
      this.preempt();
      if (self) return false;
    }
    return true;
  }

  /** Plans a step at `at_us`; null when there is nothing to do. */
  plan(at_us: number): StepPlan | null {
    let budget = this.server.max_batched_tokens;
    const parts: { request: SimRequest; prefill: number }[] = [];
    const before = this.preemptions;
    const wholePrompts = !this.server.chunked_prefill;
    for (let i = 0; i < this.running.length && budget > 0; i++) {
      const request = this.running[i]!;
      if (request.ready_us > at_us) continue;
      if (Scheduler.needsPrefill(request)) {
        const prefill = Math.min(budget, Scheduler.target(request) - request.computed);
        parts.push({ request, prefill });
        budget -= prefill;
      } else if (this.roomFor(request)) {
        parts.push({ request, prefill: 0 });
        budget -= 1;
      }
    }
    let blocked: StepPlan["blocked"] = null;
    if (wholePrompts) budget = this.server.max_batched_tokens;
    let admitted = 0;
    while (this.waiting.length > 0 && budget > 0 && before === this.preemptions) {
      const request = this.waiting[0]!;
      const need = Scheduler.target(request) - request.computed;
      if (this.running.length >= this.server.max_num_seqs) {
        blocked = "limit";
        break;
      }
      if (wholePrompts && admitted > 0 && need > budget) break;
      if (!this.kv.grow(request, Scheduler.target(request) + 1)) {
        blocked = "kv";
        break;
      }
      this.waiting.shift();
      this.running.push(request);
      if (Number.isNaN(request.scheduled_us)) request.scheduled_us = at_us;
      const prefill = wholePrompts ? need : Math.min(budget, need);
      parts.push({ request, prefill });
      budget -= prefill;
      admitted++;
    }
    if (before !== this.preemptions && this.waiting.length > 0) blocked = "kv";
    const kept = parts.filter((p) => p.request.blocks > 0 && (!wholePrompts || admitted === 0 || p.prefill > 0));
    return kept.length === 0 ? null : { work: Scheduler.work(kept), parts: kept, blocked };
  }

  private static work(parts: StepPlan["parts"]): StepWork {
    const work = { decodes: 0, context_tokens: 0, prefill_tokens: 0, prefill_attention: 0 };
    for (const { request, prefill } of parts) {
      if (prefill === 0) {
        work.decodes++;
        work.context_tokens += Scheduler.target(request);
      } else {
        work.prefill_tokens += prefill;
        work.prefill_attention += prefill * request.computed + (prefill * (prefill + 1)) / 2;
      }
    }
    return work;
  }

  /** Applies a finished step; gives the requests that got a token, and takes the finished ones out. */
  apply(plan: StepPlan, at_us: number): SimRequest[] {
    const emitted: SimRequest[] = [];
    for (const { request, prefill } of plan.parts) {
      request.computed += prefill === 0 ? 1 : prefill;
      if (request.computed < Scheduler.target(request)) continue;
      request.generated++;
      if (request.generated === 1) request.first_engine_us = at_us;
      emitted.push(request);
      if (request.generated < request.output_tokens) continue;
      request.last_engine_us = at_us;
      this.kv.release(request);
      this.running.splice(this.running.indexOf(request), 1);
    }
    return emitted;
  }

  /** Books a step's time on everything that runs or waits. `shares` are the step's parts, summing to 1. */
  book(plan: StepPlan, elapsed_us: number, shares: Readonly<Record<string, number>>): void {
    for (const request of this.running) {
      if (request.ready_us > 0 && request.generated === 1 && !plan.parts.some((p) => p.request === request))
        book(request, "communication", elapsed_us);
      else if (request.generated > 0 && Scheduler.needsPrefill(request)) book(request, "kv_cache", elapsed_us);
      else for (const cls in shares) book(request, cls as "compute", elapsed_us * shares[cls]!);
    }
    for (const request of this.waiting) {
      if (plan.blocked === "kv" || request.preemptions > 0) book(request, "kv_cache", elapsed_us);
      else for (const cls in shares) book(request, cls as "compute", elapsed_us * shares[cls]!);
    }
  }
}
