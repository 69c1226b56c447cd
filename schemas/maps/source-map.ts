import type { EntityKind } from "../columns/index.js";

export type Labels = Readonly<Record<string, string>>;

/**
 * How several series of one metric become one value of one entity at one time:
 * `first` one physical reading, however often it is printed; `max` replicas of one state; `sum` parts of a whole (all
 * parts must be there); `count` the number of series; `difference`, `quotient` and `product` of two metrics, the one marked
 * `second` behind the sign.
 */
export type Aggregate = "first" | "max" | "sum" | "count" | "difference" | "quotient" | "product";

/** Which sentinels of DCGM a field can print: `small` fields also know the 32-bit and floating point ones. */
export type Blank = "small" | "int64";

/** One foreign metric, or a part of it chosen by labels, as one canonical column. */
export interface MapRule {
  readonly kind: EntityKind;
  readonly column: string;
  /** Canonical value = foreign value x scale. Default 1. */
  readonly scale?: number;
  /** Only series whose label has one of these values; `""` is an absent or empty label. */
  readonly where?: Readonly<Record<string, string | readonly string[]>>;
  /** Not series whose label has one of these values. */
  readonly except?: Readonly<Record<string, readonly string[]>>;
  readonly aggregate?: Aggregate;
  readonly second?: true;
  readonly blank?: Blank;
  /** Zero (or less) says that there is none: `missing` by design, `unsupported` by the device (counted as refused). */
  readonly zero?: "missing" | "unsupported";
  /** The largest foreign value that can be true. */
  readonly limit?: number;
  /** A ratio that some versions print in percent: above this value it is divided by 100, and flagged. */
  readonly percent_above?: number;
  /** The value is not the sample's but the product of these labels (information metrics). */
  readonly product?: readonly string[];
  /** Where several names or series sets give one column, only those of the highest preference count. Default 0. */
  readonly prefer?: number;
  /** Values that differ by owner (time-sliced GPU) are parts of the device's value. */
  readonly per_owner?: "sum";
}

/** What a row of a source speaks of; null = nothing that is watched (pause container, loop device, switch port). */
export interface EntityDraft {
  /** As in `EntityRef`; for servers the rank, as the instance is the mapper's to name. */
  readonly key: string;
  readonly labels: Labels;
  /** Who uses it: pod, or job, where several rows may tell of several owners of one device. */
  readonly owner?: string;
}

/** All that is known of one exporter: names and units as data, and how its rows name entities. */
export interface SourceMap {
  /** Source name as stored. */
  readonly source: string;
  /** Inference servers: the engine's word. */
  readonly engine?: string;
  /** Foreign name, normalised (`:` → `_`), to its rules. Matched whole, never by prefix. */
  readonly metrics: Readonly<Record<string, MapRule | readonly MapRule[]>>;
  /** Names are written in other cases by some versions. */
  readonly case_insensitive?: boolean;
  entity(kind: EntityKind, labels: Labels, metric: string): EntityDraft | null;
  /** Labels of replicas that show the same state or events: never summed over. */
  readonly replicas?: readonly string[];
  /** Histogram stems whose buckets are kept as series. */
  readonly histograms?: readonly string[];
  /** Metrics without a column that are kept as series when their name begins so (and the next test passes). */
  readonly extra_prefix?: string;
  extra?(name: string): boolean;
  readonly extra_kind?: EntityKind;
  /** Labels that name the entity or the scrape, not the series of an entity. */
  readonly entity_labels?: readonly string[];
  /** Label to manifest key. */
  readonly manifest?: Readonly<Record<string, string>>;
}

/** First non-empty label of `names`. */
export function pick(labels: Labels, ...names: readonly string[]): string {
  for (const name of names) {
    const value = labels[name];
    if (value !== undefined && value !== "") return value;
  }
  return "";
}

/** Drops empty values and the blanks of DCGM. */
export function known(labels: Labels): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(labels)) if (value !== "" && !value.startsWith("<<<")) kept[name] = value;
  return kept;
}

/** The two totals of a latency histogram of seconds: `NAME_sum` and `NAME_count`. */
export function histogram(name: string, column: string, extra: Partial<MapRule> = {}): Record<string, MapRule> {
  const stem = column.replace(/_s$/, "");
  return {
    [`${name}_sum`]: { kind: "server", column: `${column}_sum_total`, aggregate: "sum", ...extra },
    [`${name}_count`]: { kind: "server", column: `${stem}_count_total`, aggregate: "sum", ...extra },
  };
}
