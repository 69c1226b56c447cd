import type { ColumnSpec } from "../../schemas/columns/index.js";
import { type Aggregate, COMPANIONS, type Labels, type MapRule, type SourceMap } from "../../schemas/maps/index.js";

/** `vllm:x`, `vllm_x` (OpenTelemetry) and `ray_vllm_x` (Ray Serve) are one name. */
export const normaliseName = (name: string): string => name.replaceAll(":", "_").replace(/^ray_/, "");

export type NameMatch =
  | { readonly as: "columns"; readonly map: SourceMap; readonly rules: readonly MapRule[] }
  /** Printed beside an engine's metrics by the process that serves the page. */
  | { readonly as: "companion"; readonly rules: readonly MapRule[] }
  /** Without a column: a histogram bucket or a metric worth keeping as it is. */
  | { readonly as: "series"; readonly map: SourceMap; readonly counter: boolean };

const HISTOGRAM_PART = /_(bucket|sum|count|created|gsum|gcount)$/;

/** Finds what a foreign metric name means. Names are matched whole: `num_requests_waiting_by_reason` is not `num_requests_waiting`. */
export class RuleIndex {
  readonly #maps: readonly SourceMap[];
  readonly #exact = new Map<string, NameMatch>();
  readonly #folded = new Map<string, NameMatch>();

  constructor(maps: readonly SourceMap[]) {
    this.#maps = maps;
    for (const [name, rule] of Object.entries(COMPANIONS)) this.#exact.set(name, { as: "companion", rules: [rule] });
    for (const map of maps) {
      for (const [name, rules] of Object.entries(map.metrics)) {
        const match: NameMatch = { as: "columns", map, rules: Array.isArray(rules) ? (rules as readonly MapRule[]) : [rules as MapRule] };
        this.#exact.set(name, match);
        if (map.case_insensitive === true) this.#folded.set(name.toLowerCase(), match);
      }
    }
  }

  find(foreign: string): NameMatch | null {
    const name = normaliseName(foreign);
    // OpenMetrics appends `_total` to every counter, whatever its exporter calls it.
    const bare = name.endsWith("_total") ? name.slice(0, -6) : name;
    return (
      this.#exact.get(name) ??
      this.#folded.get(name.toLowerCase()) ??
      this.#exact.get(bare) ??
      this.#folded.get(bare.toLowerCase()) ??
      this.#asSeries(name)
    );
  }

  #asSeries(name: string): NameMatch | null {
    const stem = name.endsWith("_bucket") ? name.slice(0, -7) : null;
    for (const map of this.#maps) {
      if (stem !== null && map.histograms?.includes(stem) === true) return { as: "series", map, counter: true };
      if (map.extra_prefix === undefined || !name.startsWith(map.extra_prefix) || HISTOGRAM_PART.test(name)) continue;
      if (map.extra?.(name) !== false) return { as: "series", map, counter: /_total$/i.test(name) };
    }
    return null;
  }
}

/** Whether the series that carries these labels is one that the rule speaks of. */
export function ruleApplies(rule: MapRule, labels: Labels): boolean {
  for (const [label, wanted] of Object.entries(rule.where ?? {})) {
    const value = labels[label] ?? "";
    if (typeof wanted === "string" ? value !== wanted : !wanted.includes(value)) return false;
  }
  for (const [label, refused] of Object.entries(rule.except ?? {})) if (refused.includes(labels[label] ?? "")) return false;
  return true;
}

/** Readings of a ratio just above 1 come from rounding. */
export const inRange = (value: number, spec: ColumnSpec): boolean =>
  (spec.min === undefined || value >= spec.min) && (spec.max === undefined || value <= spec.max);

const isRatio = (spec: ColumnSpec): boolean => spec.min === 0 && spec.max === 1.05;

/** The value is not the column's yet: its range holds for what is made of it. */
const OF_OPERANDS: ReadonlySet<Aggregate> = new Set<Aggregate>(["difference", "quotient", "product", "count"]);

const INT32_BLANK = 2_147_483_632;
const INT64_BLANK = 9.2e18;

export type Refusal = "not_finite" | "sentinel" | "unsupported" | "range" | "none";

/** The foreign value in the column's unit, or why it is no reading (`none`: it says that there is nothing, which is no fault). */
export function readValue(rule: MapRule, spec: ColumnSpec, foreign: number, labels: Labels): number | Refusal {
  let value = foreign;
  if (rule.product !== undefined) {
    value = rule.product.reduce((a, label) => a * Number.parseFloat(labels[label] ?? ""), 1);
    if (!Number.isFinite(value)) return "none";
  }
  if (!Number.isFinite(value)) return "not_finite";
  if (rule.blank !== undefined && value >= (rule.blank === "small" ? INT32_BLANK : INT64_BLANK)) return "sentinel";
  if (rule.zero !== undefined && value <= 0) return rule.zero === "missing" ? "none" : "unsupported";
  if (rule.limit !== undefined && value > rule.limit) return "range";
  // Dividing by a power of ten rounds once and gives the decimal number that was meant; multiplying by 0.001 does not.
  const scale = rule.scale ?? 1;
  value = scale < 1 ? value / Math.round(1 / scale) : value * scale;
  if (rule.percent_above !== undefined && value > rule.percent_above) value /= 100;
  if (rule.aggregate !== undefined && OF_OPERANDS.has(rule.aggregate)) return value;
  if (!inRange(value, spec)) return "range";
  return isRatio(spec) && value > 1 ? 1 : value;
}
