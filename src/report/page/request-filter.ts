import type { TableData, TableRequest, TableRow } from "../html/page-data.js";
import { CLASS_TEXT, METRIC_TEXT } from "../wording.js";

export interface RowFilter {
  readonly text: string;
  /** A class, `none` = without a spike, empty = all. */
  readonly class: string;
  /** Ticks; null = the whole run. */
  readonly view: { readonly from: number; readonly to: number } | null;
}

export interface RowOrder {
  readonly key: string;
  readonly descending: boolean;
}

type Value = (request: TableRequest, row: TableRow) => number | string | null;

/** What a column is sorted by. */
const VALUES: Readonly<Record<string, Value>> = {
  request: (r) => r[0],
  at: (r) => r[1],
  metric: (_, [, s]) => s && METRIC_TEXT[s.metric],
  observed: (_, [, s]) => s?.observed_ms ?? null,
  expected: (_, [, s]) => s?.expected_ms ?? null,
  excess: (_, [, s]) => s?.excess_ms ?? null,
  class: (_, [, s]) => s && `${CLASS_TEXT[s.class]} / ${s.cause ?? ""}`,
  ttft: (r) => r[2],
  gap: (r) => r[3],
  e2e: (r) => r[4],
  input: (r) => r[6],
  output: (r) => r[7],
  episode: (_, [, s]) => (s && s.episode > 0 ? s.episode : null),
};

/** The rows that pass, in order; what has no value stands last either way. Equal rows keep the order of the table. */
export function selectRows(table: TableData, filter: RowFilter, order: RowOrder): TableRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const passing = table.rows.filter((row) => passes(row, table.requests[row[0]]!, words, filter));
  const value = VALUES[order.key]!;
  const keyed = passing.map((row) => ({ row, v: value(table.requests[row[0]]!, row) }));
  const sign = order.descending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.v === null || b.v === null) return a.v === b.v ? 0 : a.v === null ? 1 : -1;
    return a.v === b.v ? 0 : a.v < b.v ? -sign : sign;
  });
  return keyed.map((k) => k.row);
}

function passes([, spike]: TableRow, request: TableRequest, words: readonly string[], filter: RowFilter): boolean {
  if (filter.class === "none" ? spike !== null : filter.class !== "" && spike?.class !== filter.class) return false;
  if (filter.view && (request[1] < filter.view.from || request[1] > filter.view.to)) return false;
  if (words.length === 0) return true;
  const text = [request[0], spike && [METRIC_TEXT[spike.metric], CLASS_TEXT[spike.class], spike.class, spike.cause].join(" ")]
    .join(" ")
    .toLowerCase();
  return words.every((w) => (/^#\d+$/.test(w) ? spike?.episode === Number(w.slice(1)) : text.includes(w)));
}
