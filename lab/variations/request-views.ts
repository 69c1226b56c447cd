import type { RequestView } from "../../schemas/requests.js";
import type { SimRequest } from "../../src/sim/request.js";
import type { Fault } from "../../src/sim/scenario.js";

/** One way between client and server. */
export const NETWORK_US = 1000;

const ms = (us: number): number => Number((us / 1000).toFixed(4));

const hash = (text: string): number => {
  let h = 2166136261;
  for (const c of text) h = Math.imul(h ^ c.charCodeAt(0), 16777619);
  return (h >>> 0) / 4294967296;
};

/** Route of a request: a quarter of the clients each. */
export const routeOf = (request: SimRequest): string => `worker_${Math.floor(hash(request.id) * 4)}`;

/** When each token is delivered: a stalled route hands over at the end of the stall what came in it. */
export function delivered(request: SimRequest, faults: readonly Fault[]): readonly number[] {
  const stalls = faults.filter((f) => f.kind === "client_network" && hash(request.id) < f.magnitude);
  if (stalls.length === 0) return request.emit_us;
  return request.emit_us.map((at) => stalls.reduce((t, f) => (t >= f.start_us && t < f.end_us ? f.end_us : t), at));
}

const EMPTY = {
  span_key: "",
  model: null,
  scheduled_us: null,
  tokenize_ms: null,
  queue_ms: null,
  prefill_ms: null,
  decode_ms: null,
  transfer_ms: null,
  cached_tokens: null,
  max_tokens: null,
  gaps_ms: null,
  status: "ok",
  error: null,
  warmup: false,
  conversation_id: null,
  turn_index: null,
  route: null,
  task_type: null,
} as const;

/** As the importer reads AIPerf's record. `epoch_us`: Unix time of the simulation's start on the client's clock. */
export function clientView(request: SimRequest, epoch_us: number, faults: readonly Fault[]): RequestView {
  const emits = delivered(request, faults);
  const sent = request.at_us - NETWORK_US;
  const start_us = Math.round(epoch_us + sent);
  const ttft_ms = ms(emits[0]! + NETWORK_US - sent);
  const e2e_ms = ms(Math.max(request.end_us, emits[emits.length - 1]!) + NETWORK_US - sent);
  return {
    ...EMPTY,
    request_id: request.id,
    join_id: request.id,
    view: "client",
    server: {},
    start_us,
    first_token_us: start_us + Math.round(ttft_ms * 1000),
    end_us: start_us + Math.round(e2e_ms * 1000),
    ttft_ms,
    e2e_ms,
    input_tokens: request.prompt_tokens,
    output_tokens: request.output_tokens,
    gaps_ms: Float32Array.from(emits.slice(1), (at, i) => Number(((at - emits[i]!) / 1000).toFixed(3))),
    conversation_id: request.id,
    turn_index: 0,
    route: routeOf(request),
  };
}

/** As a vLLM span is read. */
export function serverView(request: SimRequest, epoch_us: number, pod: string): RequestView {
  const start_us = Math.round(epoch_us + request.at_us);
  const us = (from: number, to: number): number => (to - from) / 1000;
  const ttft_ms = us(request.at_us, request.emit_us[0]!);
  const e2e_ms = us(request.at_us, request.end_us);
  return {
    ...EMPTY,
    request_id: request.id,
    join_id: request.id,
    view: "server",
    span_key: `${request.id}/span`,
    server: { pod, service: "vllm-server" },
    start_us,
    first_token_us: start_us + Math.round(ttft_ms * 1000),
    end_us: start_us + Math.round(e2e_ms * 1000),
    ttft_ms,
    e2e_ms,
    queue_ms: us(request.queued_us, request.scheduled_us),
    prefill_ms: us(request.scheduled_us, request.first_engine_us),
    decode_ms: us(request.first_engine_us, request.last_engine_us),
    input_tokens: request.prompt_tokens,
    output_tokens: request.output_tokens,
    max_tokens: request.output_tokens,
  };
}
