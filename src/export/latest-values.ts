import { COLUMNS, type EntityKind } from "../../schemas/columns/index.js";
import type { EntityRef, Sample } from "../../schemas/samples.js";

/** A reading older than this many intervals of its source is no longer shown … */
const STALE_INTERVALS = 5;
/** … unless it is younger than this. */
const STALE_FLOOR_MS = 15_000;

export interface LatestEntity {
  readonly entity: EntityRef;
  readonly source: string;
  /** One value a column of the kind, in the columns' order; NaN = nothing fresh. */
  readonly values: Float64Array;
}

/** The newest reading of every column of every entity and source, for the `/metrics` page. */
export interface LatestValues {
  /** `intervalMs`: how often the source is read; decides when its values are stale. */
  take(source: string, intervalMs: number, batch: readonly Sample[]): void;
  /** What is fresh now, by kind, in the order of first sight. Entities with nothing fresh are forgotten. */
  fresh(): Readonly<Record<EntityKind, readonly LatestEntity[]>>;
}

interface Entry {
  entity: EntityRef;
  readonly source: string;
  readonly values: Float64Array;
  /** When each value was read, monotonic ms. */
  readonly readAt: Float64Array;
  maxAgeMs: number;
}

const COLUMN_INDEX = Object.fromEntries(
  Object.entries(COLUMNS).map(([kind, columns]) => [kind, new Map(columns.map((column, i) => [column.name, i]))]),
) as Record<EntityKind, Map<string, number>>;

export function createLatestValues(nowMs: () => number): LatestValues {
  const entries = new Map<string, Entry>();
  return {
    take(source, intervalMs, batch) {
      const now = nowMs();
      for (const { entity, values } of batch) {
        const key = `${entity.kind}\u0000${source}\u0000${entity.node}\u0000${entity.key}`;
        let entry = entries.get(key);
        if (!entry) {
          const n = COLUMNS[entity.kind].length;
          entry = { entity, source, values: new Float64Array(n).fill(Number.NaN), readAt: new Float64Array(n), maxAgeMs: 0 };
          entries.set(key, entry);
        }
        entry.entity = entity;
        entry.maxAgeMs = Math.max(STALE_FLOOR_MS, STALE_INTERVALS * intervalMs);
        for (const column in values) {
          const at = COLUMN_INDEX[entity.kind].get(column);
          if (at === undefined) continue;
          entry.values[at] = values[column]!;
          entry.readAt[at] = now;
        }
      }
    },
    fresh() {
      const now = nowMs();
      const found: Record<EntityKind, LatestEntity[]> = { gpu: [], host: [], process: [], link: [], server: [] };
      for (const [key, { entity, source, values, readAt, maxAgeMs }] of entries) {
        const shown = values.map((value, i) => (now - readAt[i]! <= maxAgeMs ? value : Number.NaN));
        if (shown.every(Number.isNaN)) entries.delete(key);
        else found[entity.kind].push({ entity, source, values: shown });
      }
      return found;
    },
  };
}
