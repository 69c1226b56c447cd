import type Database from "better-sqlite3";
import type { HistogramTrack } from "../../schemas/telemetry.js";
import { type Directory, idList } from "./read-entities.js";
import type { ScopePart } from "./read-scope.js";

interface BucketSeries {
  readonly id: number;
  readonly entity: number;
  readonly source: number;
  readonly metric: string;
  readonly labels: string;
}

interface Group {
  readonly entity: number;
  readonly source: number;
  readonly metric: string;
  readonly bucketOf: Map<number, number>;
}

const BUCKET = "_bucket";

const parseBound = (le: string): number => (/^\+?inf/i.test(le) ? Number.POSITIVE_INFINITY : Number(le));

/** Puts the buckets of each latency histogram side by side again. A bucket that was not read at a time is NaN. */
export function readHistograms(db: Database.Database, part: ScopePart, directory: Directory): HistogramTrack[] {
  const series = db
    .prepare<[], BucketSeries>(
      `SELECT n.id, n.entity, n.source, n.metric, ls.labels FROM series n JOIN label_set ls ON ls.id = n.label_set
       WHERE n.source IN (${idList(part.sources)}) AND n.metric LIKE '%_seconds_bucket' ORDER BY n.id`,
    )
    .all();
  const groups = new Map<string, BucketSeries[]>();
  for (const s of series) {
    const { le, ...others } = JSON.parse(s.labels) as Record<string, string>;
    if (le === undefined || Number.isNaN(parseBound(le))) continue;
    const key = `${s.entity}\0${s.source}\0${s.metric}\0${JSON.stringify(others)}`;
    groups.set(key, [...(groups.get(key) ?? []), s]);
  }
  const bySeries = new Map<number, GrowingHistogram>();
  const tracks = [...groups.values()].map((members) => {
    const track = new GrowingHistogram(members);
    for (const m of members) bySeries.set(m.id, track);
    return track;
  });
  if (tracks.length === 0) return [];
  const rows = db
    .prepare<[number, number], [number, number, number]>(
      `SELECT ts_us, series, value FROM series_sample WHERE ts_us BETWEEN ? AND ? AND series IN (${[...bySeries.keys()].join(",")})
       ORDER BY ts_us, series`,
    )
    .raw();
  for (const [ts, id, value] of rows.iterate(part.from_us, part.to_us)) bySeries.get(id)!.push(ts, id, value);
  return tracks.filter((t) => t.ts.length > 0).map((t) => t.finish(directory));
}

class GrowingHistogram {
  readonly ts: number[] = [];
  private readonly counts: number[] = [];
  private readonly bounds: readonly number[];
  private readonly group: Group;

  constructor(members: readonly BucketSeries[]) {
    const bound = (s: BucketSeries): number => parseBound((JSON.parse(s.labels) as { le: string }).le);
    this.bounds = [...new Set(members.map(bound))].sort((a, b) => a - b);
    const first = members[0]!;
    this.group = { ...first, bucketOf: new Map(members.map((s) => [s.id, this.bounds.indexOf(bound(s))])) };
  }

  push(tsUs: number, series: number, value: number): void {
    const width = this.bounds.length;
    if (this.ts.at(-1) !== tsUs) {
      this.ts.push(tsUs);
      for (let j = 0; j < width; j++) this.counts.push(Number.NaN);
    }
    this.counts[(this.ts.length - 1) * width + this.group.bucketOf.get(series)!] = value;
  }

  finish(directory: Directory): HistogramTrack {
    const { entity, source, metric } = this.group;
    return {
      source: directory.source(source),
      entity: directory.entity(entity, source, "server"),
      metric: metric.slice(0, -BUCKET.length),
      bounds: Float64Array.from(this.bounds),
      ts_us: Float64Array.from(this.ts),
      counts: Float64Array.from(this.counts),
    };
  }
}
