import type { Mark } from "../../../schemas/telemetry.js";
import { asObject, asText } from "../exact-json.js";
import { readLines } from "../input-lines.js";
import { defineImporter } from "./importer.js";

const LINE = /^:::MLLOG\s+(\{.*\})\s*$/;
const POWER = /^(\d{2})-(\d{2})-(\d{4}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?$/;
/** Values that name the test, as manifest keys. */
const FACTS: Readonly<Record<string, string>> = {
  loadgen_version: "load_generator",
  effective_scenario: "scenario",
  requested_scenario: "scenario",
  sut_name: "system_under_test",
};

/**
 * `mlperf_log_detail.txt` of MLPerf LoadGen. It holds no requests; it gives the window of the run as marks, by `power_begin` and
 * `power_end`, which are UTC. `test_datetime` is local time with a false `Z`, so it is not used.
 */
export const mlperfLoadgen = defineImporter({
  name: "mlperf-loadgen",
  looks_for: "an MLPerf LoadGen detail log (:::MLLOG lines)",

  recognise(head) {
    return /^:::MLLOG \{/m.test(head) ? 0.95 : 0;
  },

  async import(file, context) {
    const source = { name: "mlperf-loadgen", node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string) => context.sink.rejected(source, reason, 1);
    const marks: Mark[] = [];
    const facts: Record<string, string> = {};
    for await (const { lines, unterminated } of readLines(file, context.limits, () => refuse("line_too_long"))) {
      lines.forEach((line, i) => {
        if (line.trim() === "") return;
        const entry = parse(line);
        if (entry === null) {
          refuse(unterminated && i === lines.length - 1 ? "truncated" : "syntax");
          return;
        }
        const value = asText(entry.value);
        if (value === null) return;
        const fact = FACTS[asText(entry.key) ?? ""];
        if (fact !== undefined) facts[fact] = value;
        const us = entry.key === "power_begin" || entry.key === "power_end" ? powerTime(value) : null;
        if (us !== null)
          marks.push({
            ts_us: us,
            node: context.node,
            kind: "load_test",
            text: `MLPerf LoadGen ${entry.key === "power_begin" ? "begins" : "ends"}`,
          });
      });
    }
    if (Object.keys(facts).length > 0) context.sink.manifest(context.run, facts);
    if (marks.length > 0) context.sink.marks(marks, context.run);
    context.warn(
      marks.length > 0
        ? "an MLPerf log holds no requests: it marks the run's window by power_begin and power_end (UTC)"
        : "an MLPerf log holds no requests, and without power_begin and power_end no time that can be trusted: test_datetime is local time with a false Z",
    );
  },
});

function parse(line: string): Readonly<Record<string, unknown>> | null {
  const m = LINE.exec(line);
  if (!m) return null;
  try {
    return asObject(JSON.parse(m[1]!));
  } catch {
    return null;
  }
}

function powerTime(text: string): number | null {
  const m = POWER.exec(text);
  if (!m) return null;
  const [month, day, year, hour, minute, second] = m.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  return Date.UTC(year, month - 1, day, hour, minute, second) * 1000 + Number((m[7] ?? "").padEnd(6, "0"));
}
