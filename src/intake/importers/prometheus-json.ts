import type { ScannedSeries } from "../../text/exposition-scanner.js";
import { asArray, asNumber, asObject, asText } from "../exact-json.js";
import { isAnchored } from "../nanoseconds.js";
import { giveCanonical, importMapper } from "./canonical-import.js";
import { defineImporter } from "./importer.js";
import { readJsonObjects } from "./json-objects.js";

type Fields = Readonly<Record<string, unknown>>;
const NAME = "prometheus-json";

/**
 * Answers of the Prometheus HTTP API, `/api/v1/query_range` (matrix) or `/query` (vector), one or several: all series as exporters
 * name them. The result of an expression has no name, so what it means is not known.
 */
export const prometheusJson = defineImporter({
  name: NAME,
  looks_for: "an answer of the Prometheus HTTP API (resultType matrix or vector)",

  recognise(head) {
    return /^\s*[{[]/.test(head) && /"resultType"\s*:\s*"(?:matrix|vector)"/.test(head) ? 0.95 : 0;
  },

  async import(file, context) {
    const source = { name: NAME, node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string, count = 1) => context.sink.rejected(source, reason, count);
    const mapper = importMapper(context);
    let id = 0;
    let unnamed = 0;
    for (const root of await readJsonObjects(file, context.limits, refuse)) {
      if (root.status === "error") {
        refuse("query_failed");
        context.warn(`a query failed: ${asText(root.errorType) ?? "no reason given"}`);
      }
      for (const item of asArray(asObject(root.data)?.result)) {
        const result = asObject(item);
        const labels = textLabels(asObject(result?.metric));
        const { __name__: name, ...rest } = labels;
        const readings = result?.values === undefined ? [result?.value] : asArray(result.values);
        if (name === undefined) {
          unnamed++;
          refuse("no_name", readings.length);
          continue;
        }
        const series: ScannedSeries = { id: id++, name, labels: rest };
        for (const reading of readings) {
          const at = pointOf(reading);
          if (at === null) refuse("timestamp");
          else mapper.sample(series, at.value, at.ts_us);
        }
      }
    }
    giveCanonical(mapper, context, NAME);
    if (unnamed > 0) context.warn(`${unnamed} results have no name, as those of expressions: query the metrics themselves`);
    if (id > 0 && mapper.summary().sources.length === 0) context.warn("none of its metrics is known");
  },
});

/** `[1788404000.123, "0.5"]`; the value may be NaN or infinite, which is the mapper's to refuse. */
function pointOf(reading: unknown): { ts_us: number; value: number } | null {
  const [seconds, text] = asArray(reading);
  const ts_us = Math.round((asNumber(seconds) ?? Number.NaN) * 1e6);
  if (!isAnchored(ts_us) || typeof text !== "string") return null;
  const infinite = text === "+Inf" ? Infinity : text === "-Inf" ? -Infinity : null;
  return { ts_us, value: infinite ?? (text.trim() === "" ? Number.NaN : Number(text)) };
}

function textLabels(labels: Fields | null): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(labels ?? {})) if (typeof value === "string") texts[name] = value;
  return texts;
}
