import type Database from "better-sqlite3";
import { ENTITY_KINDS, type EntityKind } from "../../schemas/columns/index.js";
import type { RequestView } from "../../schemas/requests.js";
import type { SeriesSample, SourceSpec } from "../../schemas/samples.js";
import { Dictionary, growExtent, labelText, type SourceEntry } from "./dictionary.js";
import type { Chunk, RejectedEntry } from "./pending-chunks.js";
import { REQUEST_ADD_SQL, requestInsertSql, requestRow } from "./request-row.js";
import { RunExtents } from "./run-extents.js";
import { SampleWriter } from "./sample-writer.js";
import { VerdictWriter } from "./verdict-writer.js";

export interface Batch {
  readonly chunks: readonly Chunk[];
  readonly rejected: readonly RejectedEntry[];
  /** By run; the empty name is the live agent. */
  readonly manifest: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** What a batch says of runs that have no rows yet: it waits for the first. */
export type Held = Pick<Batch, "rejected" | "manifest">;

/** Writes batches, each in one transaction. */
export class BatchCommit {
  private readonly dictionary: Dictionary;
  private readonly writers: ReadonlyMap<EntityKind, SampleWriter>;
  private readonly verdicts: VerdictWriter;
  private readonly sql;
  private readonly runs: RunExtents;
  private readonly transact: (batch: Batch) => Held;
  /** Rows of imports refused so far while this is open, by origin, source and reason: they replace what is stored. */
  private totals = new Map<string, number>();
  /** Index of the chunk that was being written: after a failure, the one to blame. */
  at = 0;
  /** Requests committed that were there already. */
  repeated = 0;

  constructor(
    db: Database.Database,
    wallUs: () => number,
    private readonly keepRanges: boolean,
  ) {
    this.dictionary = new Dictionary(db, wallUs);
    this.writers = new Map(ENTITY_KINDS.map((kind) => [kind, new SampleWriter(db, this.dictionary, kind)]));
    this.verdicts = new VerdictWriter(db);
    this.runs = new RunExtents(db);
    this.sql = {
      addRequest: db.prepare(REQUEST_ADD_SQL),
      request: db.prepare(requestInsertSql(false)),
      span: db.prepare(requestInsertSql(true)),
      series: db.prepare(
        "INSERT INTO series_sample (ts_us, series, epoch, value) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET epoch = excluded.epoch, value = excluded.value",
      ),
      mark: db.prepare("INSERT OR IGNORE INTO mark (ts_us, node, kind, text, run) VALUES (?, ?, ?, ?, ?)"),
      fact: db.prepare("INSERT INTO manifest (run, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"),
      addRejected: db.prepare(
        "INSERT INTO rejected (source, origin, reason, count) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
      ),
      setRejected: db.prepare(
        "INSERT INTO rejected (source, origin, reason, count) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = excluded.count",
      ),
    };
    const body = db.transaction((batch: Batch) => this.write(batch));
    this.transact = (batch) => body.immediate(batch);
  }

  /** Commits all or nothing, but for what is given back. Throws what SQLite threw. */
  commit(batch: Batch): Held {
    this.at = 0;
    const totals = new Map(this.totals);
    const repeated = this.repeated;
    try {
      return this.transact(batch);
    } catch (error) {
      this.totals = totals;
      this.repeated = repeated;
      this.dictionary.forget();
      throw error;
    }
  }

  /** An import of this origin begins anew: its counts start at zero. */
  forgetOrigin(origin: string): void {
    for (const key of this.totals.keys()) if (key.startsWith(`${origin}\0`)) this.totals.delete(key);
  }

  private write(batch: Batch): Held {
    const own: RejectedEntry[] = [];
    for (this.at = 0; this.at < batch.chunks.length; this.at++) this.writeChunk(batch.chunks[this.at]!, own);
    if (!this.keepRanges) this.runs.cover(batch.chunks);
    const { now, later } = this.runs.split([...batch.rejected, ...own]);
    for (const entry of now) this.writeRejected(entry);
    const manifest = new Map<string, Readonly<Record<string, string>>>();
    for (const [run, facts] of batch.manifest) {
      if (run !== "" && !this.runs.has(run)) manifest.set(run, facts);
      else for (const [key, value] of Object.entries(facts)) this.sql.fact.run(run, key, value);
    }
    this.dictionary.storeExtents();
    return { rejected: later, manifest };
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
    if (this.sql.addRequest.run(...row).changes === 0) {
      (view.span_key === "" ? this.sql.request : this.sql.span).run(...row);
      this.repeated++;
    }
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
