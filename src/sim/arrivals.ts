import { Random } from "./random.js";
import type { Arrival } from "./request.js";
import type { Fault, Workload } from "./scenario.js";

interface Stream {
  /** Null when there is none left. */
  head: Arrival | null;
  pull(): Arrival | null;
}

const tokens = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, Math.round(value)));
const MAX_PROMPT = 30_000;

function rateAt(workload: Workload, at_us: number): number {
  const { rate_per_s, rate_end_per_s: end, ramp_s } = workload;
  return end === undefined || !ramp_s ? rate_per_s : rate_per_s + (end - rate_per_s) * Math.min(1, at_us / 1e6 / ramp_s);
}

function baseStream(seed: number, workload: Workload, start_us: number): Stream {
  const random = new Random(seed, "arrivals");
  let at = start_us;
  let n = 0;
  const pull = (): Arrival => {
    at += random.exponential(1e6 / rateAt(workload, at));
    const prompt_tokens = tokens(random.lognormal(workload.prompt_median, workload.prompt_sigma), 8, MAX_PROMPT);
    return {
      id: `req-${seed}-${String(n++).padStart(5, "0")}`,
      at_us: Math.round(at),
      prompt_tokens,
      cached_tokens: Math.floor(prompt_tokens * (workload.cached_share ?? 0)),
      output_tokens: tokens(random.lognormal(workload.output_median, workload.output_sigma), 4, 2000),
      injected: false,
    };
  };
  return { head: pull(), pull };
}

const LONG_OUTPUT = 40;
const SESSION_CONTEXT = 8000;
const AGENT_PROMPT = 60_000;
const AGENT_OUTPUT = 12;
/** What an agent's turn adds to the context that is cached already. */
const AGENT_TURN = 300;
const GROWTH_CONTEXT = 1700;
const GROWTH_CACHED = 1600;
const STORM_OUTPUT = 1500;
/** Time per token that sizes outputs which shall last until the fault's end, µs. */
const TOKEN_US = 25_000;

/** The requests that a fault itself sends. */
function faultStream(seed: number, index: number, fault: Fault, workload: Workload): Stream | null {
  const random = new Random(seed, `fault-${index}-${fault.kind}`);
  let at = fault.start_us;
  let n = 0;
  const next = (gap_us: number, sizes: () => Pick<Arrival, "prompt_tokens" | "cached_tokens" | "output_tokens">): Arrival | null => {
    at += gap_us;
    if (at >= fault.end_us) return null;
    return { id: `inj-${seed}-${index}-${String(n++).padStart(4, "0")}`, at_us: Math.round(at), injected: true, ...sizes() };
  };
  const burst = (): Arrival | null =>
    next(random.exponential(1e6 / (workload.rate_per_s * (fault.magnitude - 1))), () => ({
      prompt_tokens: tokens(random.lognormal(workload.prompt_median, workload.prompt_sigma), 8, MAX_PROMPT),
      cached_tokens: 0,
      output_tokens: tokens(random.lognormal(workload.output_median, workload.output_sigma), 4, 2000),
    }));
  /** `magnitude` sessions that come within `spread_us` and decode until the fault ends. */
  const sessions = (context: number, fresh: number, spread_us: number): Arrival | null =>
    n >= fault.magnitude
      ? null
      : next(spread_us / fault.magnitude, () => ({
          prompt_tokens: context,
          cached_tokens: context - fresh,
          output_tokens: tokens((fault.end_us - Math.max(at, fault.start_us)) / (fault.token_us ?? TOKEN_US), 50, 2000),
        }));
  const pulls: Partial<Record<Fault["kind"], () => Arrival | null>> = {
    arrival_burst: burst,
    admission_limit: burst,
    kv_sessions: () => sessions(fault.prompt_tokens ?? SESSION_CONTEXT, 64, 2e6),
    batch_growth: () => sessions(GROWTH_CONTEXT, GROWTH_CONTEXT - GROWTH_CACHED, 0.6 * (fault.end_us - fault.start_us)),
    agent_burst: () =>
      next(random.exponential(1e6 / fault.magnitude), () => {
        const prompt_tokens = tokens((fault.prompt_tokens ?? AGENT_PROMPT) * (0.8 + 0.4 * random.next()), 1000, 120_000);
        return { prompt_tokens, cached_tokens: prompt_tokens - AGENT_TURN, output_tokens: AGENT_OUTPUT };
      }),
    long_outputs: () =>
      next(random.exponential(1e6 / (workload.rate_per_s * (fault.magnitude - 1))), () => ({
        prompt_tokens: tokens(random.lognormal(workload.prompt_median, workload.prompt_sigma), 8, MAX_PROMPT),
        cached_tokens: 0,
        output_tokens: tokens((fault.end_us - fault.start_us) / (fault.token_us ?? 1), 200, STORM_OUTPUT),
      })),
    long_prompts: () =>
      next((1e6 / (fault.rate_per_s ?? 1)) * (0.7 + 0.6 * random.next()), () => ({
        prompt_tokens: tokens(fault.magnitude * (0.9 + 0.2 * random.next()), 8, MAX_PROMPT),
        cached_tokens: 0,
        output_tokens: LONG_OUTPUT,
      })),
    context_growth: () =>
      n >= fault.magnitude
        ? null
        : next(2e6 / fault.magnitude, () => ({
            prompt_tokens: fault.prompt_tokens ?? SESSION_CONTEXT,
            cached_tokens: (fault.prompt_tokens ?? SESSION_CONTEXT) - 64,
            output_tokens: tokens((fault.end_us - fault.start_us) / (fault.token_us ?? TOKEN_US), 50, 2000),
          })),
  };
  const pull = pulls[fault.kind];
  return pull ? { head: pull(), pull } : null;
}

/** All arrivals in order of time: those of the workload, the same whatever the faults, and those of the faults. */
export class Arrivals {
  private readonly streams: Stream[] = [];
  private faults = 0;

  constructor(
    private readonly seed: number,
    private readonly workload: Workload,
    start_us = 0,
  ) {
    this.streams.push(baseStream(seed, workload, start_us));
  }

  /** Begins the workload anew. */
  begin(at_us: number): void {
    this.streams[0] = baseStream(this.seed, this.workload, at_us);
  }

  addFault(fault: Fault): void {
    const stream = faultStream(this.seed, this.faults++, fault, this.workload);
    if (stream) this.streams.push(stream);
  }

  private first(): Stream {
    let best = this.streams[0]!;
    for (const stream of this.streams) if (stream.head && stream.head.at_us < best.head!.at_us) best = stream;
    return best;
  }

  /** Time of the next arrival; the workload never ends. */
  nextUs(): number {
    return this.first().head!.at_us;
  }

  take(): Arrival {
    const stream = this.first();
    const arrival = stream.head!;
    stream.head = stream.pull();
    return arrival;
  }
}
