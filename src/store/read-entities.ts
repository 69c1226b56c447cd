import type Database from "better-sqlite3";
import type { EntityKind } from "../../schemas/columns/index.js";
import type { EntityRef } from "../../schemas/samples.js";
import type { TelemetrySource } from "../../schemas/telemetry.js";
import { rejectedCounts, type Scope, type ScopePart, type SourceRow } from "./read-scope.js";

type Labels = Readonly<Record<string, string>>;

/** Entities and sources of a scope as the correlator sees them. */
export interface Directory {
  entity(entityId: number, sourceId: number, kind: EntityKind): EntityRef;
  source(sourceId: number): TelemetrySource;
}

export const scopeParts = (scope: Scope): ScopePart[] =>
  [scope.imports, scope.live].filter((p): p is ScopePart => p !== null && p.sources.length > 0);

export const idList = (sources: readonly SourceRow[]): string => sources.map((s) => s.id).join(",");

/** A source's own labels win; what only another source of the scope knows of the entity is added. */
export function readDirectory(db: Database.Database, scope: Scope): Directory {
  const parts = scopeParts(scope);
  const refused = rejectedCounts(db, scope);
  const sources = new Map<number, TelemetrySource>();
  for (const part of parts) {
    for (const s of part.sources) {
      sources.set(s.id, {
        name: s.name,
        node: s.node,
        imported: s.run !== null,
        interval_ms: s.interval_ms,
        window_ms: s.window_ms,
        lag_ms: s.lag_ms,
        rejected: Object.fromEntries(refused.filter((r) => r.source_id === s.id).map((r) => [r.reason, r.count])),
      });
    }
  }
  const labels = readLabels(db, parts);
  const find = db.prepare<[number], { kind: EntityKind; node: string; key: string }>("SELECT kind, node, key FROM entity WHERE id = ?");
  return {
    source: (id) => sources.get(id)!,
    entity: (entityId, sourceId, kind) => {
      const bySource = labels.get(entityId);
      const others = [...(bySource ?? [])].filter(([id]) => id !== sourceId).map(([, own]) => own);
      // After a repair a dictionary row may be lost: its samples stay readable under a name of their own.
      const found = find.get(entityId) ?? { kind, node: "", key: `lost:${entityId}` };
      return { ...found, labels: Object.assign({}, ...others.reverse(), bySource?.get(sourceId)) as Labels };
    },
  };
}

/** By entity and source: what was said last before the end of the part, else first after it. */
function readLabels(db: Database.Database, parts: readonly ScopePart[]): Map<number, Map<number, Labels>> {
  const result = new Map<number, Map<number, Labels>>();
  for (const part of parts) {
    const rows = db
      .prepare<[], [number, number, number, string]>(
        `SELECT el.entity, el.source, el.since_us, ls.labels FROM entity_label el JOIN label_set ls ON ls.id = el.label_set
         WHERE el.source IN (${idList(part.sources)}) ORDER BY el.source, el.entity, el.since_us`,
      )
      .raw();
    for (const [entity, source, since, text] of rows.iterate()) {
      let bySource = result.get(entity);
      if (!bySource) {
        bySource = new Map();
        result.set(entity, bySource);
      }
      if (since <= part.to_us || !bySource.has(source)) bySource.set(source, JSON.parse(text) as Labels);
    }
  }
  return result;
}
