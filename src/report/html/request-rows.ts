import type { Report, Spike } from "../../../schemas/report.js";
import type { RequestColumns } from "../../../schemas/requests.js";
import { sortedFinite } from "../../core/quantile.js";
import type { TableRequest } from "./page-data.js";
import { microseconds } from "./time-text.js";

/** The slowest requests that are listed beside the spikes. */
export const SLOWEST = 2000;
/** Spikes that the page lists, the largest; the rest is counted and is in the JSON. */
export const MAX_SPIKES = 10_000;

export interface RequestRows {
  readonly spikes: readonly Spike[];
  /** Row of the request of each spike; -1 when it is not among the requests. */
  readonly spike_row: readonly number[];
  /** Rows of slow requests without a spike, the slowest first. */
  readonly slow_rows: readonly number[];
  /** Rows with at least one spike of the report, listed or not. */
  readonly slow: Uint8Array;
  /** Place of the class of each row's largest spike in `classes`, plus one; 0 = none. */
  readonly class_code: Uint8Array;
}

/** Which requests the table lists: all spikes and the slowest. */
export function requestRows(report: Report, requests: RequestColumns, classes: readonly string[]): RequestRows {
  const wanted = new Set(report.spikes.map((s) => s.request_id));
  const rowsOf = new Map<string, number[]>();
  if (wanted.size > 0)
    for (let i = 0; i < requests.n; i++) {
      const id = requests.request_id[i]!;
      if (wanted.has(id)) rowsOf.set(id, [...(rowsOf.get(id) ?? []), i]);
    }
  const slow = new Uint8Array(requests.n);
  const class_code = new Uint8Array(requests.n);
  const bySize = report.spikes.map((spike) => ({ spike, row: rowOf(spike, rowsOf.get(spike.request_id), requests) }));
  bySize.sort((a, b) => b.spike.excess_ms - a.spike.excess_ms);
  for (const { spike, row } of bySize) {
    if (row < 0) continue;
    slow[row] = 1;
    if (class_code[row] === 0) class_code[row] = classes.indexOf(spike.class) + 1;
  }
  const listed = bySize.slice(0, MAX_SPIKES);
  return {
    spikes: listed.map((l) => l.spike),
    spike_row: listed.map((l) => l.row),
    slow_rows: slowestRows(requests, slow),
    slow,
    class_code,
  };
}

/** An id may have been used twice: then the request that was under way at the spike. */
function rowOf(spike: Spike, rows: readonly number[] | undefined, requests: RequestColumns): number {
  if (!rows) return -1;
  if (rows.length === 1) return rows[0]!;
  const start = microseconds(spike.start);
  const away = (i: number): number => Math.abs(requests.sent_us[i]! - start);
  return rows.reduce((best, i) => (away(i) < away(best) ? i : best));
}

/** By end-to-end time, or by time to first token where no end was recorded at all. */
function slowestRows(requests: RequestColumns, slow: Uint8Array): number[] {
  const ms = requests.e2e_ms.some((v) => Number.isFinite(v)) ? requests.e2e_ms : requests.ttft_ms;
  const sorted = sortedFinite(ms);
  const cut = sorted[Math.max(0, sorted.length - SLOWEST)] ?? Number.POSITIVE_INFINITY;
  const rows: number[] = [];
  for (let i = 0; i < requests.n; i++) if (ms[i]! >= cut) rows.push(i);
  return rows
    .sort((a, b) => ms[b]! - ms[a]! || a - b)
    .slice(0, SLOWEST)
    .filter((i) => slow[i] === 0);
}

/** One request for the table. */
export function tableRequest(requests: RequestColumns, gaps: Float64Array, row: number, at: number, dot: number): TableRequest {
  return [
    requests.request_id[row]!,
    at,
    rounded(requests.ttft_ms[row]!),
    rounded(gaps[row]!),
    rounded(requests.e2e_ms[row]!),
    rounded(requests.queue_ms[row]!),
    known(requests.input_tokens[row]!),
    known(requests.output_tokens[row]!),
    dot,
  ];
}

const known = (v: number): number | null => (Number.isFinite(v) ? v : null);
const rounded = (v: number): number | null => (Number.isFinite(v) ? Math.round(v * 1000) / 1000 : null);
