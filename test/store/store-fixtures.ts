import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach } from "vitest";
import type { EntityKind } from "../../schemas/columns/index.js";
import type { RequestView } from "../../schemas/requests.js";
import type { EntityRef, Sample, SourceSpec } from "../../schemas/samples.js";
import { type OpenOptions, openStore, type Store } from "../../src/store/open-store.js";

/** 2026-01-01T00:00:00Z in µs. */
export const T0 = 1_767_225_600_000_000;
export const SECOND = 1_000_000;

const made: string[] = [];
const opened: Store[] = [];

afterEach(() => {
  for (const store of opened.splice(0)) {
    try {
      store.close();
    } catch {
      // The test has seen this failure already.
    }
  }
  for (const folder of made.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-store-"));
  made.push(folder);
  return folder;
}

export const temporaryFile = (): string => path.join(temporaryFolder(), "test.db");

/** Opened with the wall clock at `T0`; closed after the test. */
export function open(file: string, options: Partial<OpenOptions> = {}): Store {
  const store = openStore(file, { mode: "write", wallUs: () => T0, ...options });
  opened.push(store);
  return store;
}

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
