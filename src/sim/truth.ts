import { CLASSES, type VerdictClass } from "../../schemas/report.js";
import { conditionsAt } from "./conditions.js";
import { InferenceNode } from "./inference-node.js";
import type { Physics } from "./physics.js";
import type { SimRequest, Waits } from "./request.js";
import { FAULTS, type Fault, type Scenario } from "./scenario.js";

/** What a fault did to one request. Lists name every class that counts as right; null = no clear majority, or not slower in that metric. */
export interface RequestTruth {
  readonly request_id: string;
  /** True: TTFT or E2E rose by at least 100 ms and half of the undisturbed value. False: undisturbed and not slow by itself. Null: in between. */
  readonly spike: boolean | null;
  readonly ttft: readonly VerdictClass[] | null;
  readonly e2e: readonly VerdictClass[] | null;
  readonly ttft_excess_ms: number;
  readonly e2e_excess_ms: number;
  /** The fault that acted on it: index into the scenario's faults; null = none. */
  readonly fault: number | null;
}

const MIN_EXCESS_US = 100_000;
const MIN_RATIO = 0.5;
const CALM_US = 20_000;
const CALM_RATIO = 0.1;

interface Latencies {
  readonly ttft: number;
  readonly e2e: number;
}

/** When each token of a request was seen. */
type Seen = (request: SimRequest) => readonly number[];

const latencies = (r: SimRequest, seen: Seen): Latencies => {
  const emits = seen(r);
  return { ttft: emits[0]! - r.at_us, e2e: Math.max(r.end_us, emits[emits.length - 1]!) - r.at_us };
};

const asSent: Seen = (r) => r.emit_us;

/** Waits with what passed between the server's end and the one who saw it: nothing of the node. */
const withDelivery = (waits: Waits, late_us: number): Waits =>
  late_us > 0 ? { ...waits, indeterminate: waits.indeterminate + late_us } : waits;

/** The class that the excess was mostly spent on; null without a majority. */
function majority(now: Waits, before: Waits): VerdictClass | null {
  let best: VerdictClass | null = null;
  let most = 0;
  let sum = 0;
  for (const cls of CLASSES) {
    const more = Math.max(0, now[cls] - before[cls]);
    sum += more;
    if (more > most) [best, most] = [cls, more];
  }
  return most > 0.5 * sum ? best : null;
}

/** Naturally slow requests exist in every run: long prompts meet. What is slower than this for its own work is not called undisturbed. */
const USUAL_RATIO = 1.4;
const USUAL_TTFT_US = 70_000;
const USUAL_TOKEN_US = 4000;

function usualOf(done: readonly SimRequest[], node: InferenceNode): { isUsual(request: SimRequest, seen: Latencies): boolean } {
  const perToken = (r: SimRequest, l: Latencies): number => (l.e2e - l.ttft) / Math.max(1, r.output_tokens - 1);
  const all = done.map((r) => ({ r, l: latencies(r, asSent) }));
  const ratio = median(all.map(({ r, l }) => l.ttft / loneTtftUs(node, r)));
  const e2e = median(all.map(({ r, l }) => l.e2e / r.output_tokens));
  const token = median(all.map(({ r, l }) => perToken(r, l)));
  return {
    isUsual: (r, seen) => {
      const ttft = ratio * loneTtftUs(node, r);
      return (
        seen.ttft < Math.max(USUAL_RATIO * ttft, ttft + USUAL_TTFT_US) &&
        seen.e2e < USUAL_RATIO * e2e * r.output_tokens + MIN_EXCESS_US &&
        perToken(r, seen) < USUAL_RATIO * token + USUAL_TOKEN_US
      );
    },
  };
}

/** Time to the first token of a request that is alone. */
function loneTtftUs({ scenario: { server }, physics }: InferenceNode, request: SimRequest): number {
  const fresh = request.prompt_tokens - request.cached_tokens;
  const work = {
    decodes: 0,
    context_tokens: 0,
    prefill_tokens: fresh,
    prefill_attention: fresh * request.cached_tokens + (fresh * fresh) / 2,
  };
  const { launch_us, gpu_us } = physics.stepCost(server, conditionsAt([], server, 0), work);
  return physics.front.accept_us + physics.front.tokenize_us_per_token * request.prompt_tokens + launch_us + gpu_us;
}

/** The last fault that had begun before the request ended: a queue that drains belongs to the fault that filled it. */
function faultOf(request: SimRequest, faults: readonly Fault[]): number | null {
  let found: number | null = null;
  for (const [i, fault] of faults.entries()) if (fault.start_us < request.end_us) found = i;
  return found;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/**
 * Compares a run with the same arrivals without its faults. Only requests of the workload that finished in both are judged.
 * Both nodes must have been advanced until their requests were done. `seen` gives the token times of the one who judges: the client's
 * where the way to it is part of the story.
 */
export function judge(run: InferenceNode, undisturbed: InferenceNode, seen: Seen = asSent): RequestTruth[] {
  const before = new Map(undisturbed.requests.map((r) => [r.id, r]));
  const done = run.requests.filter(
    (r) => !r.injected && r.end_us > 0 && r.emit_us.length > 0 && (before.get(r.id)?.emit_us.length ?? 0) > 0,
  );
  const usual = usualOf(
    done.map((r) => before.get(r.id)!),
    undisturbed,
  );
  return done.map((request) => {
    const twin = before.get(request.id)!;
    const now = latencies(request, seen);
    const then = latencies(twin, asSent);
    const late = { ttft: now.ttft - latencies(request, asSent).ttft, e2e: now.e2e - latencies(request, asSent).e2e };
    const excess = { ttft: now.ttft - then.ttft, e2e: now.e2e - then.e2e };
    const rose = (us: number, base: number): boolean => us >= MIN_EXCESS_US && us >= MIN_RATIO * base;
    const fault = faultOf(request, run.faults);
    const spiked = { ttft: rose(excess.ttft, then.ttft), e2e: rose(excess.e2e, then.e2e) };
    const spike = spiked.ttft || spiked.e2e;
    const calm =
      excess.ttft < Math.max(CALM_US, CALM_RATIO * then.ttft) &&
      excess.e2e < Math.max(CALM_US, CALM_RATIO * then.e2e) &&
      usual.isUsual(request, now);
    const classes = (on: boolean, a: Waits, b: Waits): VerdictClass[] | null => {
      const main = on && fault !== null ? majority(a, b) : null;
      if (main === null) return null;
      const own = FAULTS[run.faults[fault!]!.kind].class;
      return main === own ? [main] : [main, own];
    };
    return {
      request_id: request.id,
      spike: spike ? true : calm ? false : null,
      ttft: classes(spiked.ttft, withDelivery(request.first_waits, late.ttft), twin.first_waits),
      e2e: classes(spiked.e2e, withDelivery(request.waits, late.e2e), twin.waits),
      ttft_excess_ms: excess.ttft / 1000,
      e2e_excess_ms: excess.e2e / 1000,
      fault: spike ? fault : null,
    };
  });
}

/** The same arrivals without any fault, run until everything is answered. */
export function undisturbedRun(scenario: Scenario, end_us: number, drain_us = 120e6, physics?: Physics): InferenceNode {
  const node = new InferenceNode({ ...scenario, faults: [] }, physics);
  node.advance(end_us + drain_us, end_us);
  return node;
}
