import { columnSpec, type EntityKind } from "../../schemas/columns/index.js";

/** Collects the readings of one sample and refuses what the column does not allow, so that one bad value never costs its neighbours. */
export class CheckedValues {
  readonly values: Record<string, number> = {};
  /** Columns that were refused. */
  refused = 0;

  constructor(private readonly kind: EntityKind) {}

  /** Absent (null) readings are skipped; ratios just above 1 become 1. */
  put(column: string, value: number | null): void {
    if (value === null) return;
    const spec = columnSpec(this.kind, column);
    if (!spec) throw new Error(`no column ${column} of ${this.kind}`);
    if (!Number.isFinite(value) || value < (spec.min ?? -Infinity) || value > (spec.max ?? Infinity)) {
      this.refused++;
      return;
    }
    this.values[column] = column.endsWith("_ratio") && value > 1 ? 1 : value;
  }

  isEmpty(): boolean {
    return Object.keys(this.values).length === 0;
  }
}
