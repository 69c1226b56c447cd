import { type Family, labelText } from "./metric-family.js";

/** Collects families over time and writes them as one OpenMetrics text with timestamps: each family in one piece, counters by their family name. */
export class OpenMetricsRecording {
  private readonly families = new Map<string, { type: Family["type"]; lines: string[] }>();

  add(families: readonly Family[], at_us: number): void {
    const stamp = (at_us / 1e6).toFixed(3);
    for (const family of families) {
      const counter = family.type === "counter";
      const name = counter ? family.name.replace(/_total$/, "") : family.name;
      let entry = this.families.get(name);
      if (!entry) {
        entry = { type: family.type, lines: [] };
        this.families.set(name, entry);
      }
      for (const s of family.samples)
        entry.lines.push(`${name}${counter ? "_total" : (s.suffix ?? "")}${labelText(s.labels)} ${s.value} ${stamp}`);
    }
  }

  text(): string {
    const parts: string[] = [];
    for (const [name, { type, lines }] of this.families) parts.push(`# TYPE ${name} ${type}`, ...[...lines].sort(bySeries));
    return `${parts.join("\n")}\n# EOF\n`;
  }
}

/** Lines of one series stay together and in order of time, as OpenMetrics demands. */
function bySeries(a: string, b: string): number {
  const sa = a.slice(0, a.lastIndexOf("}") + 1);
  const sb = b.slice(0, b.lastIndexOf("}") + 1);
  return sa < sb ? -1 : sa > sb ? 1 : 0;
}
