import type Database from "better-sqlite3";
import { COLUMNS, type EntityKind } from "../../schemas/columns/index.js";
import type { Sample } from "../../schemas/samples.js";
import { type Dictionary, growExtent, type SourceEntry } from "./dictionary.js";

/**
 * Rows of one INSERT. Values are given as arguments, not as an array: the driver takes them over at less than half the cost,
 * which is most of what a row costs.
 */
const BLOCK_ROWS = 16;
const FIXED = 4;

/** The columns that one source has given so far; its statements name only these. */
interface Shape {
  names: readonly string[];
  /** Values of the rows that wait for their statement, row by row. */
  waiting: unknown[];
  block: Database.Statement | null;
  single: Database.Statement | null;
}

type Values = Sample["values"];
type Reject = (reason: string, count: number) => void;

/** Writes samples of one entity kind. A second reading of the same instant adds to the first: later values win, none is lost. */
export class SampleWriter {
  private readonly known: ReadonlySet<string>;
  private readonly shapes = new Map<number, Shape>();

  constructor(
    private readonly db: Database.Database,
    private readonly dictionary: Dictionary,
    private readonly kind: EntityKind,
  ) {
    this.known = new Set(COLUMNS[kind].map((c) => c.name));
  }

  write(source: SourceEntry, batch: readonly Sample[], reject: Reject): void {
    let shape = this.shapes.get(source.id);
    if (!shape) {
      shape = { names: [], waiting: [], block: null, single: null };
      this.shapes.set(source.id, shape);
    }
    shape.waiting = [];
    for (const sample of batch) {
      if (sample.entity.kind !== this.kind) continue;
      if (!Number.isSafeInteger(sample.ts_us)) {
        reject("time", 1);
        continue;
      }
      const entity = this.dictionary.entity(sample.entity, source, sample.ts_us);
      if (!this.pushRow(shape, sample, entity, source.id, reject)) continue;
      growExtent(source, sample.ts_us);
      if (shape.waiting.length === BLOCK_ROWS * (FIXED + shape.names.length)) this.finish(shape);
    }
    this.finish(shape);
  }

  /** False when nothing of the sample can be stored. */
  private pushRow(shape: Shape, sample: Sample, entity: number, source: number, reject: Reject): boolean {
    const { waiting } = shape;
    const begin = waiting.length;
    waiting.push(sample.ts_us, entity, source, sample.epoch | 0);
    const given = pushValues(shape, sample.values);
    if (given === countOf(sample.values)) {
      if (given > 0) return true;
      waiting.length = begin;
      return false;
    }
    // Something is not as it mostly is: a new column, an unknown one, or a value that cannot be stored.
    waiting.length = begin;
    const storable = this.learn(shape, sample.values, reject);
    if (storable === 0) return false;
    shape.waiting.push(sample.ts_us, entity, source, sample.epoch | 0);
    pushValues(shape, sample.values);
    return true;
  }

  /** Learns new columns; what waits in the old shape is written before. Gives the number of values that can be stored. */
  private learn(shape: Shape, values: Values, reject: Reject): number {
    const fresh: string[] = [];
    let storable = 0;
    for (const name in values) {
      if (!this.known.has(name)) reject("unknown_column", 1);
      else if (Number.isFinite(values[name])) {
        storable++;
        if (!shape.names.includes(name)) fresh.push(name);
      } else if (values[name] !== undefined && !Number.isNaN(values[name])) reject("not_finite", 1);
    }
    if (fresh.length > 0) {
      this.finish(shape);
      shape.names = [...shape.names, ...fresh];
      shape.block = null;
      shape.single = null;
    }
    return storable;
  }

  private finish(shape: Shape): void {
    const { waiting, names } = shape;
    const width = FIXED + names.length;
    if (waiting.length === BLOCK_ROWS * width) {
      shape.block ??= this.db.prepare(insertSql(this.kind, names, BLOCK_ROWS));
      shape.block.run(...waiting);
    } else if (waiting.length > 0) {
      shape.single ??= this.db.prepare(insertSql(this.kind, names, 1));
      for (let at = 0; at < waiting.length; at += width) shape.single.run(...waiting.slice(at, at + width));
    }
    waiting.length = 0;
  }
}

function countOf(values: Values): number {
  let n = 0;
  for (const _ in values) n++;
  return n;
}

/** Appends one row's values, NULL where there is none; gives the number of values. */
function pushValues(shape: Shape, values: Values): number {
  const { names, waiting } = shape;
  let stored = 0;
  for (let c = 0; c < names.length; c++) {
    const value = values[names[c]!];
    if (Number.isFinite(value)) {
      waiting.push(value);
      stored++;
    } else waiting.push(null);
  }
  return stored;
}

function insertSql(kind: EntityKind, names: readonly string[], rows: number): string {
  const columns = ["ts_us", "entity", "source", "epoch", ...names];
  const tuple = `(${columns.map(() => "?").join(",")})`;
  const merge = ["epoch = excluded.epoch", ...names.map((n) => `${n} = coalesce(excluded.${n}, ${n})`)];
  return `INSERT INTO ${kind}_sample (${columns.join(",")}) VALUES ${Array(rows).fill(tuple).join(",")}
    ON CONFLICT (ts_us, entity, source) DO UPDATE SET ${merge.join(", ")}`;
}
