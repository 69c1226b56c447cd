/** What one engine (attention data-parallel rank) of trtllm-serve said of its newest iterations. */
export interface TrtllmIterations {
  readonly rank: string;
  /** First and last iteration number of the page; null where it has none. */
  readonly first: number | null;
  readonly last: number | null;
  /** Canonical server columns of the last iteration. */
  readonly values: Readonly<Record<string, number>>;
  /** Time of an iteration, over those of the page, seconds; null when none says it. */
  readonly latency_s: { readonly mean: number; readonly max: number } | null;
}

export type TrtllmPage =
  | { readonly kind: "iterations"; readonly engines: readonly TrtllmIterations[]; readonly rejected: Readonly<Record<string, number>> }
  /** Something else, such as a Prometheus page or the text of an error. */
  | { readonly kind: "other" };

type Fields = Readonly<Record<string, unknown>>;

const object = (value: unknown): Fields | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
const level = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null);

/**
 * Reads `GET /metrics` of trtllm-serve: a JSON array of iteration records, empty when nothing ran since the last read. Its stamps are
 * local time without a zone and are not read. Source: TensorRT-LLM's documentation of `enable_iter_perf_stats`.
 */
export function parseTrtllmIterations(body: string): TrtllmPage {
  let page: unknown;
  try {
    page = JSON.parse(body);
  } catch {
    return { kind: "other" };
  }
  if (!Array.isArray(page)) return { kind: "other" };
  const byRank = new Map<string, Fields[]>();
  const rejected: Record<string, number> = {};
  for (const item of page as readonly unknown[]) {
    const record = object(item);
    if (record === null || (level(record.iter) === null && object(record.kvCacheStats) === null)) {
      rejected.syntax = (rejected.syntax ?? 0) + 1;
      continue;
    }
    const rank = String(level(record.attentionDpRank) ?? 0);
    byRank.set(rank, [...(byRank.get(rank) ?? []), record]);
  }
  return { kind: "iterations", engines: [...byRank].map(([rank, records]) => engineOf(rank, records)), rejected };
}

function engineOf(rank: string, records: readonly Fields[]): TrtllmIterations {
  const numbers = records.flatMap((r) => level(r.iter) ?? []);
  const latencies = records.flatMap((r) => level(r.iterLatencyMS) ?? []);
  return {
    rank,
    first: numbers.length === 0 ? null : Math.min(...numbers),
    last: numbers.length === 0 ? null : Math.max(...numbers),
    values: valuesOf(records.at(-1)!),
    latency_s:
      latencies.length === 0
        ? null
        : { mean: latencies.reduce((a, b) => a + b, 0) / latencies.length / 1000, max: Math.max(...latencies) / 1000 },
  };
}

function valuesOf(record: Fields): Record<string, number> {
  const kv = object(record.kvCacheStats) ?? {};
  const batch = object(record.inflightBatchingStats) ?? {};
  const blocks = level(kv.maxNumBlocks);
  const used = level(kv.usedNumBlocks);
  const size = level(kv.tokensPerBlock);
  const candidates: Readonly<Record<string, number | null>> = {
    running: level(batch.numScheduledRequests) ?? level(record.numActiveRequests),
    waiting: level(record.numQueuedRequests),
    max_running: level(record.maxNumActiveRequests),
    retracted: level(batch.numPausedRequests),
    kv_usage_ratio: blocks === null || blocks === 0 || used === null || used > blocks ? null : used / blocks,
    kv_capacity_tokens: blocks === null || size === null ? null : blocks * size,
    prefix_hit_ratio: ratio(kv.cacheHitRate),
    // The engine numbers its steps from its start.
    iteration_tokens_count_total: level(record.iter),
  };
  const values: Record<string, number> = {};
  for (const [column, value] of Object.entries(candidates)) if (value !== null) values[column] = value;
  return values;
}

function ratio(value: unknown): number | null {
  const number = level(value);
  return number === null || number > 1 ? null : number;
}
