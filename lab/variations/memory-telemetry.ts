import { COLUMNS, ENTITY_KINDS } from "../../schemas/columns/index.js";
import type { Sample } from "../../schemas/samples.js";
import type { Telemetry, TelemetrySource, Track } from "../../schemas/telemetry.js";
import { createCanonicalMapper } from "../../src/text/canonical-series.js";
import type { ScannedSeries } from "../../src/text/exposition-scanner.js";
import type { Family } from "../metric-family.js";

type Series = ScannedSeries;

/**
 * Telemetry of a run as the store would hand it out after an import, without a file between: families go through the same map of
 * foreign names.
 */
export class MemoryTelemetry {
  private readonly mapper = createCanonicalMapper({ default_node: "" });
  /** The mapper knows a series by its object. */
  private readonly series = new Map<string, Series[]>();
  private count = 0;

  constructor() {
    this.mapper.begin(null);
  }

  /** `relabel` is asked once a series; `scope` tells the families of several servers apart. */
  add(
    families: readonly Family[],
    stamp_us: number,
    scope: string,
    relabel: (labels: Series["labels"]) => Series["labels"] = (l) => l,
  ): void {
    for (const family of families) {
      const id = `${scope}\0${family.name}`;
      let known = this.series.get(id);
      if (!known) {
        const name = family.type === "counter" && !/_(total|sum|count)$/.test(family.name) ? `${family.name}_total` : family.name;
        known = family.samples.map((s) => ({ id: this.count++, name, labels: relabel(s.labels) }));
        this.series.set(id, known);
      }
      for (const [i, s] of family.samples.entries()) this.mapper.sample(known[i]!, Number(s.value), stamp_us);
    }
  }

  telemetry(): Telemetry {
    const tracks = new Map<string, { source: TelemetrySource; rows: Sample[] }>();
    const summaryOf = new Map<string, TelemetrySource>();
    for (const { source, node, samples } of this.mapper.batches()) {
      const spec = summaryOf.get(`${source}\0${node}`) ?? {
        ...{ name: source, node, imported: true, interval_ms: null, window_ms: null, lag_ms: null, rejected: {} },
      };
      summaryOf.set(`${source}\0${node}`, spec);
      for (const sample of samples) {
        const id = [source, sample.entity.kind, sample.entity.node, sample.entity.key].join("\0");
        const track = tracks.get(id);
        if (track) track.rows.push(sample);
        else tracks.set(id, { source: spec, rows: [sample] });
      }
    }
    return { tracks: shareLabels([...tracks.values()].map(toTrack)).sort(compareTracks), histograms: [], marks: [] };
  }
}

function toTrack({ source, rows }: { source: TelemetrySource; rows: Sample[] }): Track {
  const ts_us = Float64Array.from(rows, (r) => r.ts_us);
  const columns: Record<string, Float64Array> = {};
  const { kind } = rows[0]!.entity;
  for (const { name } of COLUMNS[kind]) {
    if (!rows.some((r) => r.values[name] !== undefined)) continue;
    columns[name] = Float64Array.from(rows, (r) => r.values[name] ?? Number.NaN);
  }
  return { source, entity: rows[rows.length - 1]!.entity, ts_us, epoch: new Int32Array(rows.length), columns };
}

/** What only another source says of an entity is added to its labels, as the store does. */
function shareLabels(tracks: readonly Track[]): Track[] {
  const all = new Map<string, Record<string, string>>();
  const id = (t: Track): string => [t.entity.kind, t.entity.node, t.entity.key].join("\0");
  for (const t of tracks) all.set(id(t), { ...t.entity.labels, ...all.get(id(t)) });
  return tracks.map((t) => ({ ...t, entity: { ...t.entity, labels: { ...all.get(id(t)), ...t.entity.labels } } }));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const compareTracks = (a: Track, b: Track): number =>
  ENTITY_KINDS.indexOf(a.entity.kind) - ENTITY_KINDS.indexOf(b.entity.kind) ||
  compare(a.entity.node, b.entity.node) ||
  compare(a.entity.key, b.entity.key) ||
  compare(a.source.name, b.source.name);
