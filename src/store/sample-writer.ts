import type Database from "better-sqlite3";
import { COLUMNS, type EntityKind } from "../../schemas/columns/index.js";
import type { Sample } from "../../schemas/samples.js";
import { type Dictionary, growExtent, type SourceEntry } from "./dictionary.js";

/** Rows of one INSERT: several rows a statement cost a third less than one each. */
const BLOCK_ROWS = 32;
const FIXED = 4;

/** The columns that one source has given so far; its statements name only these. */
interface Shape {
  names: string[];
  block: Database.Statement | null;
  single: Database.Statement | null;
}

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
      shape = { names: [], block: null, single: null };
      this.shapes.set(source.id, shape);
    }
    let values: unknown[] = [];
    let rows = 0;
    const finish = (): void => {
      this.insert(shape, values, rows);
      values = [];
      rows = 0;
    };
    for (const sample of batch) {
      if (sample.entity.kind !== this.kind) continue;
      if (!Number.isSafeInteger(sample.ts_us)) {
        reject("time", 1);
        continue;
      }
      if (this.grow(shape, sample.values, rows > 0 ? finish : null, reject)) continue;
      growExtent(source, sample.ts_us);
      values.push(sample.ts_us, this.dictionary.entity(sample.entity, source, sample.ts_us), source.id, sample.epoch | 0);
      for (const name of shape.names) {
        const value = sample.values[name];
        if (typeof value === "number" && Number.isFinite(value)) values.push(value);
        else {
          if (value !== undefined && !Number.isNaN(value)) reject("not_finite", 1);
          values.push(null);
        }
      }
      if (++rows === BLOCK_ROWS) finish();
    }
    if (rows > 0) finish();
  }

  /** Learns new columns; a block in the old shape is written before. True when the sample holds nothing that can be stored. */
  private grow(shape: Shape, values: Sample["values"], finish: (() => void) | null, reject: Reject): boolean {
    let fresh: string[] | null = null;
    let usable = 0;
    for (const name in values) {
      if (shape.names.includes(name)) usable++;
      else if (this.known.has(name)) {
        fresh = [...(fresh ?? []), name];
        usable++;
      } else reject("unknown_column", 1);
    }
    if (fresh) {
      finish?.();
      shape.names = [...shape.names, ...fresh];
      shape.block = null;
      shape.single = null;
    }
    return usable === 0;
  }

  private insert(shape: Shape, values: unknown[], rows: number): void {
    if (rows === BLOCK_ROWS) {
      shape.block ??= this.db.prepare(insertSql(this.kind, shape.names, BLOCK_ROWS));
      shape.block.run(values);
      return;
    }
    shape.single ??= this.db.prepare(insertSql(this.kind, shape.names, 1));
    const width = FIXED + shape.names.length;
    for (let row = 0; row < rows; row++) shape.single.run(values.slice(row * width, (row + 1) * width));
  }
}

function insertSql(kind: EntityKind, names: readonly string[], rows: number): string {
  const columns = ["ts_us", "entity", "source", "epoch", ...names];
  const tuple = `(${columns.map(() => "?").join(",")})`;
  const merge = ["epoch = excluded.epoch", ...names.map((n) => `${n} = coalesce(excluded.${n}, ${n})`)];
  return `INSERT INTO ${kind}_sample (${columns.join(",")}) VALUES ${Array(rows).fill(tuple).join(",")}
    ON CONFLICT (ts_us, entity, source) DO UPDATE SET ${merge.join(", ")}`;
}
