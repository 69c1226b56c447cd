import type Database from "better-sqlite3";
import { COLUMNS, ENTITY_KINDS, type EntityKind } from "../../schemas/columns/index.js";
import type { EntityRef } from "../../schemas/samples.js";
import type { Mark, Telemetry, TelemetrySource, Track } from "../../schemas/telemetry.js";
import { GrowingTrack } from "./growing-track.js";
import { type Directory, idList, readDirectory, scopeParts } from "./read-entities.js";
import { readHistograms } from "./read-histograms.js";
import { MARGIN_US, type Scope, type ScopePart } from "./read-scope.js";

/** All telemetry of a scope as columns. Everything is read in one snapshot by the caller's transaction. */
export function readTelemetry(db: Database.Database, scope: Scope): Telemetry {
  const directory = readDirectory(db, scope);
  const parts = scopeParts(scope);
  const tracks = parts.flatMap((part) => ENTITY_KINDS.flatMap((kind) => readTracks(db, kind, part, directory)));
  const histograms = parts.flatMap((part) => readHistograms(db, part, directory));
  return {
    tracks: tracks.sort(compareTracks),
    histograms: histograms.sort((a, b) => compareTracks(a, b) || compare(a.metric, b.metric)),
    marks: readMarks(db, scope),
  };
}

function readTracks(db: Database.Database, kind: EntityKind, part: ScopePart, directory: Directory): Track[] {
  const names = COLUMNS[kind].map((c) => c.name);
  const rows = db
    .prepare<[number, number], unknown[]>(
      `SELECT ts_us, entity, source, epoch, ${names.join(", ")} FROM ${kind}_sample
       WHERE ts_us BETWEEN ? AND ? AND source IN (${idList(part.sources)}) ORDER BY ts_us, entity, source`,
    )
    .raw();
  const tracks = new Map<number, Map<number, GrowingTrack>>();
  for (const row of rows.iterate(part.from_us, part.to_us)) {
    const [ts, entity, source, epoch] = row as [number, number, number, number];
    let bySource = tracks.get(entity);
    if (!bySource) {
      bySource = new Map();
      tracks.set(entity, bySource);
    }
    let track = bySource.get(source);
    if (!track) {
      track = new GrowingTrack(names.length);
      bySource.set(source, track);
    }
    track.push(ts, epoch, row, 4);
  }
  const result: Track[] = [];
  for (const [entity, bySource] of tracks) {
    for (const [source, track] of bySource) {
      result.push({ source: directory.source(source), entity: directory.entity(entity, source, kind), ...track.finish(names) });
    }
  }
  return result;
}

/** A run's own marks, and those of no run that fall into it; of an interval, those of no run. */
function readMarks(db: Database.Database, scope: Scope): Mark[] {
  if (scope.range === null && scope.run === null) return [];
  const margin = scope.run === null ? 0 : MARGIN_US;
  const nodes = new Set(scope.live?.sources.map((s) => s.node));
  return db
    .prepare<unknown[], Mark & { run: string }>(
      "SELECT ts_us, node, kind, text, run FROM mark WHERE (run = '' AND ts_us BETWEEN ? AND ?) OR (run <> '' AND run = ?) ORDER BY ts_us, node, kind, text",
    )
    .all((scope.range?.start_us ?? 0) - margin, (scope.range?.end_us ?? -1) + margin, scope.run ?? "")
    .filter((m) => m.run !== "" || m.node === "" || nodes.size === 0 || nodes.has(m.node))
    .map(({ ts_us, node, kind, text }) => ({ ts_us, node, kind, text }));
}

interface Placed {
  readonly entity: EntityRef;
  readonly source: TelemetrySource;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compareTracks = (a: Placed, b: Placed): number =>
  ENTITY_KINDS.indexOf(a.entity.kind) - ENTITY_KINDS.indexOf(b.entity.kind) ||
  compare(a.entity.node, b.entity.node) ||
  compare(a.entity.key, b.entity.key) ||
  compare(a.source.name, b.source.name) ||
  compare(a.source.node, b.source.node) ||
  Number(a.source.imported) - Number(b.source.imported);
