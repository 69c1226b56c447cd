/**
 * What one canonical telemetry column means. Columns are data: the store's tables, the maps of foreign names,
 * the exported gauges and the alignment all read these lists, so that a unit or a window is written once.
 */
export type EntityKind = "gpu" | "host" | "process" | "link" | "server";

export const ENTITY_KINDS: readonly EntityKind[] = ["gpu", "host", "process", "link", "server"];

export interface ColumnSpec {
  /** Column name with its unit as suffix, e.g. `power_w`, `cpu_user_s_total`, `kv_usage_ratio`. */
  readonly name: string;
  /** `counter` only grows (a fall starts a new segment); `gauge` is a level; `mask` is a bit set; `code` is an enumeration. */
  readonly type: "gauge" | "counter" | "mask" | "code";
  /**
   * The interval that one reading describes: `interval` = the mean since the source's previous refresh,
   * `instant` = a momentary state, a number = a fixed trailing window in milliseconds. Counters are exact: `instant`.
   */
  readonly window: "interval" | "instant" | number;
  /** Readings outside of [min, max] are rejected and counted, never clamped, except ratios in (1, 1.05] which become 1. */
  readonly min?: number;
  readonly max?: number;
  /** One line for the metric catalogue and the HELP text. */
  readonly help: string;
}

export const ratio = (name: string, window: ColumnSpec["window"], help: string): ColumnSpec => ({
  name,
  type: "gauge",
  window,
  min: 0,
  max: 1.05,
  help,
});

export const counter = (name: string, help: string): ColumnSpec => ({ name, type: "counter", window: "instant", min: 0, help });

export const gauge = (name: string, window: ColumnSpec["window"], help: string, min = 0, max?: number): ColumnSpec => ({
  name,
  type: "gauge",
  window,
  min,
  ...(max === undefined ? {} : { max }),
  help,
});
