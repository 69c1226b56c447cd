/** What one observer saw of one request. A client's and a server's view of the same request are joined when they are read. */
export interface RequestView {
  /** As it was written by the observer: AIPerf `x_request_id`, span `gen_ai.request.id`, GuideLLM `response_id`. */
  readonly request_id: string;
  /** What views are joined on: `request_id` without what the server put around the caller's id, `cmpl-ID-0` and `chatcmpl-ID` giving `ID`. */
  readonly join_id: string;
  readonly view: "client" | "server";
  /** For de-duplication of repeated exports: `traceId/spanId`, else empty. */
  readonly span_key: string;
  /** How the server may be recognised: `pod`, `service`, `model`, `url`, `instance`; empty when unknown. */
  readonly server: Readonly<Record<string, string>>;
  readonly model: string | null;
  /** Intended send time of the load generator, µs; null when unknown. */
  readonly scheduled_us: number | null;
  /** Client: request sent. Server: request arrived. Integer µs on the observer's clock. */
  readonly start_us: number;
  readonly first_token_us: number | null;
  /** Null while the request is open. */
  readonly end_us: number | null;
  /** Durations as the observer measured them (monotonic where it could), ms; null = not measured. */
  readonly ttft_ms: number | null;
  readonly e2e_ms: number | null;
  readonly tokenize_ms: number | null;
  readonly queue_ms: number | null;
  readonly prefill_ms: number | null;
  readonly decode_ms: number | null;
  /** KV transfer between prefill and decode instances. */
  readonly transfer_ms: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly max_tokens: number | null;
  /** Time between consecutive output chunks, ms, first token excluded; null = not recorded. */
  readonly gaps_ms: Float32Array | null;
  readonly status: RequestStatus;
  readonly error: string | null;
  /** Load generator's own warm-up phase. */
  readonly warmup: boolean;
  readonly conversation_id: string | null;
  readonly turn_index: number | null;
  /** Client worker, route or tenant, where known: tells a delay of one route from one of all. */
  readonly route: string | null;
  readonly task_type: string | null;
}

export const REQUEST_STATUSES = ["ok", "error", "cancelled", "timeout", "open"] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/**
 * All requests of a range as columns, one row a request, sorted by `arrival_us` then `request_id`. NaN = missing.
 * All times are on the axis of the telemetry; the client's clock offset is already removed.
 */
export interface RequestColumns {
  readonly n: number;
  readonly request_id: readonly string[];
  /** Index into `servers`; -1 = not known. */
  readonly server: Int32Array;
  readonly servers: readonly Readonly<Record<string, string>>[];
  readonly models: readonly string[];
  readonly model: Int32Array;
  readonly routes: readonly string[];
  readonly route: Int32Array;
  readonly scheduled_us: Float64Array;
  /** Sent by the client; equals `arrival_us` where only the server was seen. */
  readonly sent_us: Float64Array;
  /** Arrived at the server; equals `sent_us` where only the client was seen. */
  readonly arrival_us: Float64Array;
  readonly first_token_us: Float64Array;
  readonly end_us: Float64Array;
  /** As the user saw it: the client's where there is one, else the server's. */
  readonly ttft_ms: Float64Array;
  readonly e2e_ms: Float64Array;
  /** The server's TTFT where a server view exists. */
  readonly server_ttft_ms: Float64Array;
  readonly tokenize_ms: Float64Array;
  readonly queue_ms: Float64Array;
  readonly prefill_ms: Float64Array;
  readonly decode_ms: Float64Array;
  readonly transfer_ms: Float64Array;
  readonly input_tokens: Float64Array;
  readonly output_tokens: Float64Array;
  readonly cached_tokens: Float64Array;
  readonly max_tokens: Float64Array;
  /** Index into REQUEST_STATUSES. */
  readonly status: Uint8Array;
  readonly warmup: Uint8Array;
  /** Bit 1: a client view was there; bit 2: a server view was there. */
  readonly seen_by: Uint8Array;
  /** Row i's gaps are gap_ms[gap_offset[i] .. gap_offset[i + 1]). */
  readonly gap_offset: Uint32Array;
  readonly gap_ms: Float32Array;
}
