/** One metric family with its readings already in the words of the program that is imitated. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter" | "histogram";
  /** Labels in order; the text of the value. `suffix` for the parts of a histogram. */
  readonly samples: readonly Reading[];
}

export interface Reading {
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** `{a="b",c="d"}`, or nothing without labels. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

/** Prometheus text format 0.0.4, as the programs that are imitated print it. */
export function exposition(families: readonly Family[]): string {
  const lines: string[] = [];
  for (const family of families) {
    lines.push(`# HELP ${family.name} ${family.help}`, `# TYPE ${family.name} ${family.type}`);
    for (const s of family.samples) lines.push(`${family.name}${s.suffix ?? ""}${labelText(s.labels)} ${s.value}`);
  }
  return `${lines.join("\n")}\n`;
}

/** As Python's prometheus_client writes numbers. */
export function pythonFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return `${value}.0`;
  if (Math.abs(value) >= 1e6) {
    const [mantissa, exponent] = value.toExponential().split("e+");
    return `${mantissa}e+${exponent!.padStart(2, "0")}`;
  }
  return String(value);
}
