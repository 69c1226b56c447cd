import { type ColumnSpec, columnSpec } from "../../schemas/columns/index.js";
import type { MapRule } from "../../schemas/maps/index.js";
import { type Lane, unionOfTimes } from "./canonical-lane.js";
import { inRange } from "./canonical-rules.js";

/** One foreign series that feeds a column. */
export interface ColumnLane {
  readonly rule: MapRule;
  readonly lane: Lane;
  /** Replica of the same state that this series shows (tensor rank, worker process, second scrape of one target). */
  readonly replica: string;
  /** Who uses the device according to this row; empty when it does not say. */
  readonly owner: string;
}

export interface MergedColumns {
  readonly ts_us: Float64Array;
  /** Aligned with `ts_us`; NaN = missing. */
  readonly columns: ReadonlyMap<string, Float64Array>;
}

export type CountRefusal = (reason: string, count: number) => void;

/** Brings the series of one entity onto one time axis, one array a column. Linear in readings, but for one sort of the times. */
export function mergeLanes(lanes: readonly ColumnLane[], refuse: CountRefusal): MergedColumns {
  const byColumn = new Map<string, ColumnLane[]>();
  for (const lane of lanes) {
    lane.lane.sort();
    const list = byColumn.get(lane.rule.column);
    if (list === undefined) byColumn.set(lane.rule.column, [lane]);
    else list.push(lane);
  }
  const used = [...byColumn].map(([column, list]) => [column, preferred(list)] as const);
  for (const [, list] of byColumn) countConflicts(list, refuse);
  const times = unionOfTimes(used.flatMap(([, list]) => list.map((l) => l.lane)));
  const columns = new Map<string, Float64Array>();
  for (const [column, list] of used) {
    const rule = list[0]!.rule;
    const spec = columnSpec(rule.kind, column);
    if (spec === undefined) throw new Error(`map names a column that ${rule.kind} does not have: ${column}`);
    columns.set(column, combine(list, times, spec, refuse));
  }
  return { ts_us: times, columns };
}

/** Where several names give one column, the best of them for the whole text: mixing two counters would make false steps. */
function preferred(lanes: readonly ColumnLane[]): readonly ColumnLane[] {
  const best = Math.max(...lanes.map((l) => l.rule.prefer ?? 0));
  return lanes.filter((l) => (l.rule.prefer ?? 0) === best);
}

/** Two ratios of one thing that are further apart contradict each other. */
const CONFLICT = 0.05;

/** Counts the times at which the next best name of a ratio contradicts the best, as an exporter does whose figures do not belong together. */
function countConflicts(lanes: readonly ColumnLane[], refuse: CountRefusal): void {
  const rule = lanes[0]!.rule;
  if (!rule.column.endsWith("_ratio")) return;
  const best = preferred(lanes);
  const others = lanes.filter((lane) => !best.includes(lane));
  const spec = columnSpec(rule.kind, rule.column);
  if (others.length === 0 || spec === undefined) return;
  const next = preferred(others);
  const times = unionOfTimes([...best, ...next].map((l) => l.lane));
  const silent = (): void => undefined;
  const a = combine(best, times, spec, silent);
  const b = combine(next, times, spec, silent);
  let conflicts = 0;
  for (let row = 0; row < times.length; row++) if (Math.abs(a[row]! - b[row]!) > CONFLICT) conflicts++;
  if (conflicts > 0) refuse("conflict", conflicts);
}

function combine(lanes: readonly ColumnLane[], times: Float64Array, spec: ColumnSpec, refuse: CountRefusal): Float64Array {
  switch (lanes[0]!.rule.aggregate ?? "first") {
    case "first":
      return one(lanes, times, spec, refuse);
    case "max":
      return highest(lanes, times);
    case "sum":
      return sumOfParts(lanes, times, spec, refuse);
    case "count":
      return presence(lanes, times);
    case "difference":
      return pairwise(lanes, times, spec, refuse, (a, b) => a - b);
    case "quotient":
      return pairwise(lanes, times, spec, refuse, (a, b) => a / b);
    case "product":
      return pairwise(lanes, times, spec, refuse, (a, b) => a * b);
  }
}

/** Calls `visit(row, value)` for every reading; `times` holds every time of the lane. */
function walk(lane: Lane, times: Float64Array, visit: (row: number, value: number) => void): void {
  let row = 0;
  for (let i = 0; i < lane.n; i++) {
    while (times[row]! < lane.ts[i]!) row++;
    visit(row, lane.values[i]!);
  }
}

const missing = (n: number): Float64Array => new Float64Array(n).fill(Number.NaN);

function one(lanes: readonly ColumnLane[], times: Float64Array, spec: ColumnSpec, refuse: CountRefusal): Float64Array {
  const out = missing(times.length);
  const differing = new Set<number>();
  for (const { lane } of lanes) {
    walk(lane, times, (row, value) => {
      if (Number.isNaN(out[row]!)) out[row] = value;
      else if (out[row] !== value) differing.add(row);
    });
  }
  if (differing.size === 0) return out;
  const rows = new Map<number, { value: number; owner: string }[]>([...differing].map((row) => [row, []]));
  for (const { lane, owner } of lanes) walk(lane, times, (row, value) => rows.get(row)?.push({ value, owner }));
  for (const [row, readings] of rows) {
    const owners = new Set(readings.map((r) => r.owner));
    if (lanes[0]!.rule.per_owner === "sum" && owners.size === readings.length && !owners.has("")) {
      const sum = readings.reduce((a, r) => a + r.value, 0);
      out[row] = spec.max === undefined ? sum : Math.min(sum, spec.max > 1 && spec.max < 1.1 ? 1 : spec.max);
    } else refuse("duplicate_conflict", readings.length - 1);
  }
  return out;
}

function highest(lanes: readonly ColumnLane[], times: Float64Array): Float64Array {
  const out = missing(times.length);
  for (const { lane } of lanes) {
    walk(lane, times, (row, value) => {
      if (!(out[row]! >= value)) out[row] = value;
    });
  }
  return out;
}

/** Sums the parts of each replica and takes the largest. A time at which a living part is missing has no sum. */
function sumOfParts(lanes: readonly ColumnLane[], times: Float64Array, spec: ColumnSpec, refuse: CountRefusal): Float64Array {
  const out = missing(times.length);
  for (const parts of byReplica(lanes)) {
    const sum = new Float64Array(times.length);
    const seen = new Uint32Array(times.length);
    // +1 where a part begins, -1 behind its last reading: the running total is the number of parts that must be there.
    const alive = new Int32Array(times.length + 1);
    for (const { lane } of parts) {
      let first = -1;
      let last = -1;
      walk(lane, times, (row, value) => {
        if (row === last) return;
        if (first < 0) first = row;
        last = row;
        sum[row]! += value;
        seen[row]!++;
      });
      if (first >= 0) {
        alive[first]!++;
        alive[last + 1]!--;
      }
    }
    let expected = 0;
    for (let row = 0; row < times.length; row++) {
      expected += alive[row]!;
      if (seen[row] === 0) continue;
      if (seen[row]! < expected) refuse("incomplete_sum", 1);
      else if (!(out[row]! >= sum[row]!)) out[row] = sum[row]!;
    }
  }
  return withinRange(out, spec, refuse);
}

function presence(lanes: readonly ColumnLane[], times: Float64Array): Float64Array {
  const out = missing(times.length);
  for (const parts of byReplica(lanes)) {
    const seen = new Uint32Array(times.length);
    for (const { lane } of parts) {
      walk(lane, times, (row) => {
        seen[row]!++;
      });
    }
    for (let row = 0; row < times.length; row++) if (seen[row]! > 0 && !(out[row]! >= seen[row]!)) out[row] = seen[row]!;
  }
  return out;
}

function byReplica(lanes: readonly ColumnLane[]): Iterable<readonly ColumnLane[]> {
  const replicas = new Map<string, ColumnLane[]>();
  for (const lane of lanes) {
    const list = replicas.get(lane.replica);
    if (list === undefined) replicas.set(lane.replica, [lane]);
    else list.push(lane);
  }
  return replicas.values();
}

function pairwise(
  lanes: readonly ColumnLane[],
  times: Float64Array,
  spec: ColumnSpec,
  refuse: CountRefusal,
  operate: (a: number, b: number) => number,
): Float64Array {
  const left = highest(
    lanes.filter((l) => l.rule.second !== true),
    times,
  );
  const right = highest(
    lanes.filter((l) => l.rule.second === true),
    times,
  );
  return withinRange(
    left.map((a, row) => operate(a, right[row]!)),
    spec,
    refuse,
  );
}

function withinRange(values: Float64Array, spec: ColumnSpec, refuse: CountRefusal): Float64Array {
  for (let row = 0; row < values.length; row++) {
    if (Number.isNaN(values[row]!) || inRange(values[row]!, spec)) continue;
    values[row] = Number.NaN;
    refuse("range", 1);
  }
  return values;
}
