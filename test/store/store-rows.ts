import type { EntityKind } from "../../schemas/columns/index.js";
import type { RequestView } from "../../schemas/requests.js";
import type { EntityRef, Sample, SourceSpec } from "../../schemas/samples.js";

/** 2026-01-01T00:00:00Z in µs. */
export const T0 = 1_767_225_600_000_000;
export const SECOND = 1_000_000;

export const source = (name: string, run: string | null = null, node = "n1"): SourceSpec => ({
  name,
  node,
  run,
  interval_ms: 1000,
  window_ms: null,
  lag_ms: null,
});

export const entity = (kind: EntityKind, key: string, labels: Record<string, string> = {}, node = "n1"): EntityRef => ({
  kind,
  node,
  key,
  labels,
});

export const sample = (ref: EntityRef, tsUs: number, values: Record<string, number>, epoch = 0): Sample => ({
  entity: ref,
  ts_us: tsUs,
  epoch,
  values,
});

export const request = (id: string, startUs: number, more: Partial<RequestView> = {}): RequestView => ({
  request_id: id,
  join_id: id,
  view: "server",
  span_key: "",
  server: {},
  model: null,
  scheduled_us: null,
  start_us: startUs,
  first_token_us: null,
  end_us: startUs + SECOND,
  ttft_ms: null,
  e2e_ms: 1000,
  tokenize_ms: null,
  queue_ms: null,
  prefill_ms: null,
  decode_ms: null,
  transfer_ms: null,
  input_tokens: null,
  output_tokens: null,
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
  ...more,
});
