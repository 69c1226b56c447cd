import { type Labels, SOURCE_MAPS } from "../../../schemas/maps/index.js";
import type { CanonicalMapper } from "../../text/canonical-series.js";
import type { ScannedSeries } from "../../text/exposition-scanner.js";
import { asArray, asNumber, asObject, asText } from "../exact-json.js";
import { isAnchored, nsToUs } from "../nanoseconds.js";
import { giveCanonical, importMapper } from "./canonical-import.js";
import { defineImporter } from "./importer.js";
import { readJsonLines } from "./json-lines.js";

const NAME = "aiperf-server-metrics";
const NS_PER_US = 1000;

/** AIPerf's `server_metrics_export.jsonl`: one line per endpoint and scrape, with the engines' own metric names. */
export const aiperfServerMetrics = defineImporter({
  name: NAME,
  looks_for: "AIPerf server metrics (lines with endpoint_url and metrics)",
  by_line: true,

  recognise(head) {
    return /^\s*\{/.test(head) && /"endpoint_url"\s*:/.test(head) && /"timestamp_ns"\s*:/.test(head) && /"metrics"\s*:\s*\{/.test(head)
      ? 0.95
      : 0;
  },

  async import(file, context) {
    const source = { name: NAME, node: context.node, run: context.run, interval_ms: null, window_ms: null, lag_ms: null };
    const refuse = (reason: string) => context.sink.rejected(source, reason, 1);
    const mapper = importMapper(context);
    const page = new MetricPage(mapper);
    for await (const lines of readJsonLines(file, context.limits, refuse)) {
      for (const line of lines) {
        const scraped_us = scrapedAt(line);
        if (scraped_us === null) refuse("timestamp");
        else page.take(line, scraped_us);
      }
    }
    giveCanonical(mapper, context, NAME);
  },
});

/** Half way between sending and receiving where the file says both, else when the answer was there. */
function scrapedAt(line: Readonly<Record<string, unknown>>): number | null {
  const received = nsToUs(line.timestamp_ns);
  if (received === null || !isAnchored(received)) return null;
  const sent = nsToUs(line.request_sent_ns);
  const first = nsToUs(line.first_byte_ns) ?? received - Math.max(0, (asNumber(line.endpoint_latency_ns) ?? 0) / NS_PER_US / 2);
  return Math.floor(sent !== null && sent <= first ? (sent + first) / 2 : received);
}

/** Feeds the metrics of a line to a mapper as the series that the endpoint had printed. */
class MetricPage {
  private readonly known = new Map<string, ScannedSeries>();

  constructor(private readonly mapper: CanonicalMapper) {}

  take(line: Readonly<Record<string, unknown>>, ts_us: number): void {
    const endpoint = asText(line.endpoint_url) ?? "";
    for (const [name, readings] of Object.entries(asObject(line.metrics) ?? {})) {
      for (const reading of asArray(readings).map(asObject)) {
        if (!reading) continue;
        const labels = { ...textLabels(asObject(reading.labels)), instance: hostPort(endpoint) };
        this.put(totalName(name), labels, reading.value, ts_us);
        this.put(`${name}_sum`, labels, reading.sum, ts_us);
        this.put(`${name}_count`, labels, reading.count, ts_us);
        for (const [le, count] of Object.entries(asObject(reading.buckets) ?? asObject(reading.histogram) ?? {}))
          this.put(`${name}_bucket`, { ...labels, le }, count, ts_us);
      }
    }
  }

  private put(name: string, labels: Labels, reading: unknown, ts_us: number): void {
    const value = asNumber(reading);
    if (value === null) return;
    const key = `${name}${JSON.stringify(labels)}`;
    let series = this.known.get(key);
    if (!series) {
      series = { id: this.known.size, name, labels };
      this.known.set(key, series);
    }
    this.mapper.sample(series, value, ts_us);
  }
}

const NAMES: ReadonlySet<string> = new Set(SOURCE_MAPS.flatMap((map) => Object.keys(map.metrics)));

/** AIPerf cuts `_total` from the names of counters. */
function totalName(name: string): string {
  const flat = name.replaceAll(":", "_");
  return !NAMES.has(flat) && NAMES.has(`${flat}_total`) ? `${name}_total` : name;
}

function textLabels(labels: Readonly<Record<string, unknown>> | null): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(labels ?? {})) if (typeof value === "string") texts[name] = value;
  return texts;
}

const hostPort = (url: string): string => url.replace(/^[a-z]+:\/\//i, "").replace(/\/.*$/, "");
