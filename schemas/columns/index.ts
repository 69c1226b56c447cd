import type { ColumnSpec, EntityKind } from "./column-spec.js";
import { GPU_COLUMNS } from "./gpu-columns.js";
import { HOST_COLUMNS } from "./host-columns.js";
import { LINK_COLUMNS } from "./link-columns.js";
import { PROCESS_COLUMNS } from "./process-columns.js";
import { SERVER_COLUMNS } from "./server-columns.js";

export { type ColumnSpec, ENTITY_KINDS, type EntityKind } from "./column-spec.js";

/** The canonical columns of every entity kind, in storage order. Additions go to the end of a list and need a migration. */
export const COLUMNS: Readonly<Record<EntityKind, readonly ColumnSpec[]>> = {
  gpu: GPU_COLUMNS,
  host: HOST_COLUMNS,
  process: PROCESS_COLUMNS,
  link: LINK_COLUMNS,
  server: SERVER_COLUMNS,
};

const byName = new Map<EntityKind, Map<string, ColumnSpec>>(
  (Object.keys(COLUMNS) as EntityKind[]).map((kind) => [kind, new Map(COLUMNS[kind].map((c) => [c.name, c]))]),
);

/** The column's description, or undefined when the kind has no such column. */
export const columnSpec = (kind: EntityKind, name: string): ColumnSpec | undefined => byName.get(kind)?.get(name);
