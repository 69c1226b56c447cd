import type Database from "better-sqlite3";
import type { EntityRef, SeriesSample, SourceSpec } from "../../schemas/samples.js";

/** A row of `source` while a transaction runs; `extent` grows with what is written and is stored at its end. */
export interface SourceEntry {
  readonly id: number;
  readonly imported: boolean;
  firstUs: number;
  lastUs: number;
  longestUs: number;
  changed: boolean;
}

interface EntityEntry {
  readonly id: number;
  /** By source id: what it last said, and from when. */
  readonly labels: Map<number, { seen: Labels; text: string; sinceUs: number }>;
}

type Labels = Readonly<Record<string, string>>;

export const labelText = (labels: Labels): string => JSON.stringify(Object.fromEntries(Object.entries(labels).sort(byKey)));

const byKey = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : a > b ? 1 : 0);

function sameLabels(a: Labels, b: Labels): boolean {
  let surplus = 0;
  for (const key in a) {
    if (a[key] !== b[key]) return false;
    surplus++;
  }
  for (const _ in b) surplus--;
  return surplus === 0;
}

/** Integer ids for what repeats. Ids are cached: `forget` after a rollback, which may have undone some of them. */
export class Dictionary {
  private readonly sources = new Map<string, SourceEntry>();
  private readonly entities = new Map<string, Map<string, Map<string, EntityEntry>>>();
  private readonly labelSets = new Map<string, number>();
  private readonly seriesIds = new Map<string, number>();
  /** Live series come with the same label object at every reading. */
  private readonly labelTexts = new WeakMap<Labels, string>();
  private readonly sql;

  constructor(
    db: Database.Database,
    private readonly wallUs: () => number,
  ) {
    this.sql = {
      source: db.prepare<unknown[], { id: number; first_us: number | null; last_us: number | null; longest_us: number }>(
        `INSERT INTO source (name, node, run, interval_ms, window_ms, lag_ms) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (name, node, coalesce(run, '')) DO UPDATE SET interval_ms = coalesce(excluded.interval_ms, interval_ms),
           window_ms = coalesce(excluded.window_ms, window_ms), lag_ms = coalesce(excluded.lag_ms, lag_ms)
         RETURNING id, first_us, last_us, longest_us`,
      ),
      run: db.prepare("INSERT OR IGNORE INTO run (id, created_us) VALUES (?, ?)"),
      extent: db.prepare(
        `UPDATE source SET first_us = min(coalesce(first_us, @first), @first), last_us = max(coalesce(last_us, @last), @last),
           longest_us = max(longest_us, @longest) WHERE id = @id`,
      ),
      entity: db
        .prepare<unknown[], number>(
          "INSERT INTO entity (kind, node, key) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET key = key RETURNING id",
        )
        .pluck(),
      labelSet: db
        .prepare<unknown[], number>("INSERT INTO label_set (labels) VALUES (?) ON CONFLICT DO UPDATE SET labels = labels RETURNING id")
        .pluck(),
      lastLabels: db.prepare<unknown[], { since_us: number; labels: string }>(
        `SELECT el.since_us, ls.labels FROM entity_label el JOIN label_set ls ON ls.id = el.label_set
         WHERE el.entity = ? AND el.source = ? ORDER BY el.since_us DESC LIMIT 1`,
      ),
      setLabels: db.prepare(
        "INSERT INTO entity_label (entity, source, since_us, label_set) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET label_set = excluded.label_set",
      ),
      series: db
        .prepare<unknown[], number>(
          `INSERT INTO series (entity, source, metric, label_set, type) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET type = excluded.type RETURNING id`,
        )
        .pluck(),
    };
  }

  source(spec: SourceSpec): SourceEntry {
    const key = `${spec.name}\0${spec.node}\0${spec.run ?? ""}\0${spec.interval_ms}\0${spec.window_ms}\0${spec.lag_ms}`;
    const known = this.sources.get(key);
    if (known) return known;
    if (spec.run !== null) this.sql.run.run(spec.run, this.wallUs());
    const row = this.sql.source.get(spec.name, spec.node, spec.run, spec.interval_ms, spec.window_ms, spec.lag_ms)!;
    const same = [...this.sources.values()].find((s) => s.id === row.id);
    const entry = same ?? {
      id: row.id,
      imported: spec.run !== null,
      firstUs: row.first_us ?? Number.POSITIVE_INFINITY,
      lastUs: row.last_us ?? Number.NEGATIVE_INFINITY,
      longestUs: row.longest_us,
      changed: false,
    };
    this.sources.set(key, entry);
    return entry;
  }

  /** Id of the entity; stores its labels when this source says something new. */
  entity(ref: EntityRef, source: SourceEntry, tsUs: number): number {
    let nodes = this.entities.get(ref.kind);
    if (!nodes) {
      nodes = new Map();
      this.entities.set(ref.kind, nodes);
    }
    let keys = nodes.get(ref.node);
    if (!keys) {
      keys = new Map();
      nodes.set(ref.node, keys);
    }
    let entry = keys.get(ref.key);
    if (!entry) {
      entry = { id: this.sql.entity.get(ref.kind, ref.node, ref.key)!, labels: new Map() };
      keys.set(ref.key, entry);
    }
    const known = entry.labels.get(source.id)?.seen;
    if (known !== ref.labels && !(known && sameLabels(known, ref.labels))) this.relabel(entry, ref.labels, source, tsUs);
    return entry.id;
  }

  /** Imports, and readings of one instant, add to what is known; a later live reading replaces it. */
  private relabel(entry: EntityEntry, labels: Labels, source: SourceEntry, tsUs: number): void {
    let known = entry.labels.get(source.id);
    if (!known) {
      const row = this.sql.lastLabels.get(entry.id, source.id);
      if (row) known = { seen: {}, text: row.labels, sinceUs: row.since_us };
    }
    const sinceUs = source.imported ? 0 : tsUs;
    const adds = known !== undefined && (source.imported || known.sinceUs >= tsUs);
    const text = labelText(adds ? { ...(JSON.parse(known!.text) as Labels), ...labels } : labels);
    const at = adds ? known!.sinceUs : sinceUs;
    if (text !== known?.text) this.sql.setLabels.run(entry.id, source.id, at, this.labelSet(text));
    entry.labels.set(source.id, { seen: labels, text, sinceUs: text === known?.text ? known.sinceUs : at });
  }

  /** Id of a label set given as `labelText`. */
  labelSet(text: string): number {
    let id = this.labelSets.get(text);
    if (id === undefined) {
      id = this.sql.labelSet.get(text)!;
      this.labelSets.set(text, id);
    }
    return id;
  }

  series(sample: SeriesSample, source: SourceEntry): number {
    const entity = this.entity(sample.entity, source, sample.ts_us);
    let labels = this.labelTexts.get(sample.labels);
    if (labels === undefined) {
      labels = labelText(sample.labels);
      this.labelTexts.set(sample.labels, labels);
    }
    const key = `${source.id}\0${entity}\0${sample.metric}\0${labels}`;
    let id = this.seriesIds.get(key);
    if (id === undefined) {
      id = this.sql.series.get(entity, source.id, sample.metric, this.labelSet(labels), sample.type)!;
      this.seriesIds.set(key, id);
    }
    return id;
  }

  /** Writes the extents that grew since the last call. */
  storeExtents(): void {
    for (const s of this.sources.values()) {
      if (!s.changed) continue;
      this.sql.extent.run({ first: s.firstUs, last: s.lastUs, longest: s.longestUs, id: s.id });
      s.changed = false;
    }
  }

  forget(): void {
    this.sources.clear();
    this.entities.clear();
    this.labelSets.clear();
    this.seriesIds.clear();
  }
}

export function growExtent(source: SourceEntry, tsUs: number): void {
  if (tsUs < source.firstUs) {
    source.firstUs = tsUs;
    source.changed = true;
  }
  if (tsUs > source.lastUs) {
    source.lastUs = tsUs;
    source.changed = true;
  }
}
