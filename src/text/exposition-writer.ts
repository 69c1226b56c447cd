export type ExpositionType = "counter" | "gauge" | "histogram" | "summary" | "untyped";

export interface ExpositionSample {
  /** Behind the family's name, for the parts of a histogram or summary: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Milliseconds since the Unix epoch; absent = no timestamp. */
  readonly ts_ms?: number;
}

export interface ExpositionFamily {
  readonly name: string;
  readonly help: string;
  readonly type: ExpositionType;
  readonly samples: readonly ExpositionSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
const escapeValue = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return Object.is(value, -0) ? "-0" : String(value);
}

function formatLabels(family: string, labels: Readonly<Record<string, string>>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(labels)) {
    if (!LABEL.test(name)) throw new Error(`label name "${name}" of ${family} cannot be written as Prometheus text`);
    parts.push(`${name}="${escapeValue(value)}"`);
  }
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

/**
 * Writes families as Prometheus text format 0.0.4. Families without samples are left out: absent is not zero.
 * Throws on names that the format cannot hold, which are defects of the caller.
 */
export function writeExposition(families: Iterable<ExpositionFamily>): string {
  const lines: string[] = [];
  for (const family of families) {
    if (family.samples.length === 0) continue;
    if (!NAME.test(family.name)) throw new Error(`metric name "${family.name}" cannot be written as Prometheus text`);
    lines.push(`# HELP ${family.name} ${escapeHelp(family.help)}`, `# TYPE ${family.name} ${family.type}`);
    for (const sample of family.samples) {
      const series = family.name + (sample.suffix ?? "") + formatLabels(family.name, sample.labels);
      lines.push(`${series} ${formatNumber(sample.value)}${sample.ts_ms === undefined ? "" : ` ${Math.round(sample.ts_ms)}`}`);
    }
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
