/** One message size of an nccl-tests run. Times in µs, bandwidths in GB/s (decimal); null = not printed or `N/A`. */
export interface NcclRow {
  readonly size_bytes: number;
  readonly count: number;
  readonly out_of_place: NcclTiming;
  readonly in_place: NcclTiming;
}

export interface NcclTiming {
  readonly time_us: number | null;
  readonly algbw_gbs: number | null;
  readonly busbw_gbs: number | null;
  /** Wrong elements (from 2.13 on) or the largest error (before). */
  readonly wrong: number | null;
}

export interface NcclRun {
  readonly rows: readonly NcclRow[];
  /** By the listed ranks, or, where those of other processes are missing, by the ratio of the two bandwidths. */
  readonly ranks: number | null;
  readonly failed: boolean;
  /** Lines between the rows that are no rows, such as messages of NCCL. */
  readonly foreign_lines: number;
}

/** Both groups of a row: time, algbw, busbw, wrong. */
const GROUP = 4;
const RANK = /^#\s+Rank\s+\d+\b/;
/** Below this a run measures latency, not the link. */
const LARGE_BYTES = 64 * 2 ** 20;

/**
 * Reads the output of nccl-tests, before and after 2.13: the first two tokens of a row are size and count, the last eight its two
 * groups; type, operation and root between them come and go with version and collective.
 */
export function parseNcclTests(text: string): NcclRun {
  const rows: NcclRow[] = [];
  let listed = 0;
  let failed = false;
  let foreign = 0;
  for (const line of text.split(/\r?\n/)) {
    if (RANK.test(line)) listed++;
    if (/Out of bounds values\s*:.*FAILED/.test(line)) failed = true;
    if (line.trim() === "" || line.startsWith("#")) continue;
    const tokens = line.trim().split(/\s+/);
    const row = tokens.length >= 3 + 2 * GROUP && /^\d+$/.test(tokens[0]!) && /^\d+$/.test(tokens[1]!) ? rowOf(tokens) : null;
    if (row === null) foreign++;
    else rows.push(row);
  }
  return { rows, ranks: ranksOf(rows, listed), failed, foreign_lines: foreign };
}

/** The link's measured ceiling: the best bus bandwidth of large messages, GB/s; null when none was large. */
export function busCeiling(run: NcclRun): number | null {
  const large = run.rows
    .filter((row) => row.size_bytes >= LARGE_BYTES)
    .flatMap((row) => [row.out_of_place.busbw_gbs, row.in_place.busbw_gbs]);
  const found = large.filter((value) => value !== null);
  return found.length === 0 ? null : Math.max(...found);
}

function rowOf(tokens: readonly string[]): NcclRow {
  const last = tokens.slice(-2 * GROUP).map(numberOf);
  const group = (at: number): NcclTiming => ({
    time_us: last[at]!,
    algbw_gbs: last[at + 1]!,
    busbw_gbs: last[at + 2]!,
    wrong: last[at + 3]!,
  });
  return { size_bytes: Number(tokens[0]), count: Number(tokens[1]), out_of_place: group(0), in_place: group(GROUP) };
}

function numberOf(text: string): number | null {
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** An all-reduce moves 2 (n - 1) / n of what it reduces: with too few listed ranks its ratio tells n. */
function ranksOf(rows: readonly NcclRow[], listed: number): number | null {
  const { algbw_gbs: alg, busbw_gbs: bus } = rows.at(-1)?.out_of_place ?? { algbw_gbs: null, busbw_gbs: null };
  const ratio = alg === null || bus === null || alg === 0 ? Number.NaN : bus / alg;
  const byRatio = ratio > 1.01 && ratio < 2 ? Math.round(2 / (2 - ratio)) : null;
  return byRatio !== null && byRatio > listed ? byRatio : listed > 1 ? listed : byRatio;
}
