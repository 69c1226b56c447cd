import { CLASSES, type VerdictClass } from "../../schemas/report.js";

export interface Arrival {
  readonly id: string;
  /** At the server, µs since the start of the simulation. */
  readonly at_us: number;
  readonly prompt_tokens: number;
  /** Prompt tokens that the prefix cache already holds. */
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** Part of a fault: not there in the undisturbed run. */
  readonly injected: boolean;
}

/** Microseconds of a request booked on what it waited for; `indeterminate`: on none of the five resources. */
export type Waits = Record<VerdictClass, number>;

export const noWaits = (): Waits => Object.fromEntries(CLASSES.map((c) => [c, 0])) as Waits;

/** One request's timeline, µs since the start of the simulation; NaN = not yet. */
export interface SimRequest extends Arrival {
  tokenized_us: number;
  /** Seen by the scheduler: between two steps, never inside one. */
  queued_us: number;
  scheduled_us: number;
  /** First and last token left the engine. */
  first_engine_us: number;
  last_engine_us: number;
  /** Each token left the API server. */
  readonly emit_us: number[];
  end_us: number;
  preemptions: number;
  /** Booked until the first token, and until the end. */
  readonly first_waits: Waits;
  readonly waits: Waits;
  /** Tokens whose KV entries exist. */
  computed: number;
  generated: number;
  blocks: number;
  /** When the KV that another instance computed is there; 0 = no transfer. */
  ready_us: number;
}

export const newRequest = (arrival: Arrival): SimRequest => ({
  ...arrival,
  tokenized_us: Number.NaN,
  queued_us: Number.NaN,
  scheduled_us: Number.NaN,
  first_engine_us: Number.NaN,
  last_engine_us: Number.NaN,
  emit_us: [],
  end_us: Number.NaN,
  preemptions: 0,
  first_waits: noWaits(),
  waits: noWaits(),
  computed: arrival.cached_tokens,
  generated: 0,
  blocks: 0,
  ready_us: 0,
});

/** Books `us` of waiting; time before the first token also counts into TTFT. */
export function book(request: SimRequest, cls: VerdictClass, us: number): void {
  request.waits[cls] += us;
  if (request.generated === 0) request.first_waits[cls] += us;
}
