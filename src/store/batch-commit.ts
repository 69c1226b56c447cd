import type Database from "better-sqlite3";
import { ENTITY_KINDS, type EntityKind } from "../../schemas/columns/index.js";
import type { RequestView } from "../../schemas/requests.js";
import type { SeriesSample, SourceSpec } from "../../schemas/samples.js";
import { Dictionary, growExtent, labelText, type SourceEntry } from "./dictionary.js";
import type { Chunk, RejectedEntry } from "./pending-chunks.js";
import { requestInsertSql, requestRow } from "./request-row.js";
import { SampleWriter } from "./sample-writer.js";
import { VerdictWriter } from "./verdict-writer.js";

export interface Batch {
  readonly chunks: readonly Chunk[];
  readonly rejected: readonly RejectedEntry[];
  /** By run; the empty name is the live agent. */
  readonly manifest: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Writes batches, each in one transaction. */
export class BatchCommit {
  private readonly dictionary: Dictionary;
  private readonly writers: ReadonlyMap<EntityKind, SampleWriter>;
  private readonly verdicts: VerdictWriter;
  private readonly sql;
  private readonly transact: (batch: Batch) => void;
  /** Rows of imports refused so far while this is open, by origin, source and reason: they replace what is stored. */
  private totals = new Map<string, number>();
  /** Index of the chunk that was being written: after a failure, the one to blame. */
  at = 0;

  constructor(db: Database.Database, wallUs: () => number) {
    this.dictionary = new Dictionary(db, wallUs);
    this.writers = new Map(ENTITY_KINDS.map((kind) => [kind, new SampleWriter(db, this.dictionary, kind)]));
    this.verdicts = new VerdictWriter(db);
    this.sql = {
      request: db.prepare(requestInsertSql(false)),
      span: db.prepare(requestInsertSql(true)),
      series: db.prepare(
        "INSERT INTO series_sample (ts_us, series, epoch, value) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET epoch = excluded.epoch, value = excluded.value",
      ),
      mark: db.prepare("INSERT OR IGNORE INTO mark (ts_us, node, kind, text, run) VALUES (?, ?, ?, ?, ?)"),
      fact: db.prepare("INSERT INTO manifest (run, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"),
      run: db.prepare("INSERT OR IGNORE INTO run (id, created_us) VALUES (?, ?)"),
      addRejected: db.prepare(
        "INSERT INTO rejected (source, origin, reason, count) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
      ),
      setRejected: db.prepare(
        "INSERT INTO rejected (source, origin, reason, count) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = excluded.count",
      ),
    };
    const body = db.transaction((batch: Batch) => this.write(batch, wallUs));
    this.transact = (batch) => body.immediate(batch);
  }

  /** Commits all or nothing. Throws what SQLite threw. */
  commit(batch: Batch): void {
    this.at = 0;
    const totals = new Map(this.totals);
    try {
      this.transact(batch);
    } catch (error) {
      this.totals = totals;
      this.dictionary.forget();
      throw error;
    }
  }

  /** An import of this origin begins anew: its counts start at zero. */
  forgetOrigin(origin: string): void {
    for (const key of this.totals.keys()) if (key.startsWith(`${origin}\0`)) this.totals.delete(key);
  }

  private write(batch: Batch, wallUs: () => number): void {
    const own: RejectedEntry[] = [];
    for (this.at = 0; this.at < batch.chunks.length; this.at++) this.writeChunk(batch.chunks[this.at]!, own);
    for (const entry of [...batch.rejected, ...own]) this.writeRejected(entry);
    for (const [run, facts] of batch.manifest) {
      if (run !== "") this.sql.run.run(run, wallUs());
      for (const [key, value] of Object.entries(facts)) this.sql.fact.run(run, key, value);
    }
    this.dictionary.storeExtents();
  }

  private writeChunk(chunk: Chunk, own: RejectedEntry[]): void {
    if (chunk.type === "marks") {
      for (const m of chunk.rows) if (Number.isSafeInteger(m.ts_us)) this.sql.mark.run(m.ts_us, m.node, m.kind, m.text, chunk.run ?? "");
      return;
    }
    if (chunk.type === "verdicts") {
      for (const judged of chunk.rows) this.verdicts.write(chunk.run ?? "", judged);
      return;
    }
    const source = this.dictionary.source(chunk.source);
    const reject = (reason: string, count: number): void => countRejected(own, chunk, reason, count);
    if (chunk.type === "samples") {
      for (const kind of new Set(chunk.rows.map((s) => s.entity.kind))) this.writers.get(kind)?.write(source, chunk.rows, reject);
    } else if (chunk.type === "series") {
      for (const s of chunk.rows) this.writeSeries(source, s, reject);
    } else {
      for (const r of chunk.rows) this.writeRequest(source, r, reject);
    }
  }

  private writeSeries(source: SourceEntry, s: SeriesSample, reject: (reason: string, count: number) => void): void {
    if (!Number.isSafeInteger(s.ts_us)) reject("time", 1);
    else if (!Number.isFinite(s.value)) reject("not_finite", 1);
    else {
      this.sql.series.run(s.ts_us, this.dictionary.series(s, source), s.epoch | 0, s.value);
      growExtent(source, s.ts_us);
    }
  }

  private writeRequest(source: SourceEntry, view: RequestView, reject: (reason: string, count: number) => void): void {
    const row = requestRow(view, source.id, this.dictionary.labelSet(labelText(view.server)));
    if (!row) {
      reject("time", 1);
      return;
    }
    (view.span_key === "" ? this.sql.request : this.sql.span).run(...row);
    const start = row[0] as number;
    growExtent(source, start);
    const longest = view.end_us === null ? 0 : view.end_us - start;
    if (longest > source.longestUs) {
      source.longestUs = Math.ceil(longest);
      source.changed = true;
    }
  }

  private writeRejected(entry: RejectedEntry): void {
    const { id, imported } = this.dictionary.source(entry.source);
    if (!imported) {
      this.sql.addRejected.run(id, entry.origin, entry.reason, entry.count);
      return;
    }
    const key = `${entry.origin}\0${id}\0${entry.reason}`;
    const total = (this.totals.get(key) ?? 0) + entry.count;
    this.totals.set(key, total);
    this.sql.setRejected.run(id, entry.origin, entry.reason, total);
  }
}

function countRejected(list: RejectedEntry[], from: { source: SourceSpec; origin: string }, reason: string, count: number): void {
  const known = list.find((e) => e.source === from.source && e.reason === reason && e.origin === from.origin);
  if (known) known.count += count;
  else list.push({ source: from.source, origin: from.origin, reason, count });
}
