import { COLUMNS, type ColumnSpec, ENTITY_KINDS, type EntityKind } from "./columns/index.js";

/** One metric of the agent's `/metrics` page. */
export interface MetricSpec {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly labels: readonly string[];
}

/** A metric that shows the latest reading of a canonical column. */
export interface ColumnMetric extends MetricSpec {
  readonly kind: EntityKind;
  readonly column: string;
  /** The column's unit in the metric's base unit: value * scale. */
  readonly scale: number;
}

/** Labels of every metric of an entity kind. Empty ones are left out; `source` tells two readings of the same thing apart. */
export const ENTITY_LABELS: Readonly<Record<EntityKind, readonly string[]>> = {
  gpu: ["node", "gpu", "uuid", "gpu_instance", "source"],
  host: ["node", "source"],
  process: ["node", "process", "role", "name", "pid", "server", "source"],
  link: ["node", "link", "type", "gpu", "source"],
  server: ["node", "server", "engine", "rank", "model", "source"],
};

/** Unit suffix of a column and what it becomes in a metric name. The first that fits is used. */
const UNITS: readonly { readonly from: RegExp; readonly to: string; readonly scale: number }[] = [
  { from: /_bytes_per_s$/, to: "_bytes_per_second", scale: 1 },
  { from: /_s_sum_total$/, to: "_seconds_sum_total", scale: 1 },
  { from: /_s_total$/, to: "_seconds_total", scale: 1 },
  { from: /_j_total$/, to: "_joules_total", scale: 1 },
  { from: /_s$/, to: "_seconds", scale: 1 },
  { from: /_w$/, to: "_watts", scale: 1 },
  { from: /_mhz$/, to: "_hertz", scale: 1e6 },
  { from: /_c$/, to: "_celsius", scale: 1 },
  { from: /_count$/, to: "s", scale: 1 },
];

/** The metric that shows a column: `whyslow_KIND_COLUMN` in base units; counters alone end in `_total`. */
export function columnMetric(kind: EntityKind, column: ColumnSpec): ColumnMetric {
  const unit = UNITS.find((u) => u.from.test(column.name));
  const named = unit ? column.name.replace(unit.from, unit.to) : column.name;
  const short = named.startsWith(`${kind}_`) ? named.slice(kind.length + 1) : named;
  return {
    name: `whyslow_${kind}_${short}`,
    type: column.type === "counter" ? "counter" : "gauge",
    help: column.help,
    labels: ENTITY_LABELS[kind],
    kind,
    column: column.name,
    scale: unit?.scale ?? 1,
  };
}

/** Every column's metric, in the order of the columns. */
export const COLUMN_METRICS: Readonly<Record<EntityKind, readonly ColumnMetric[]>> = {
  gpu: COLUMNS.gpu.map((column) => columnMetric("gpu", column)),
  host: COLUMNS.host.map((column) => columnMetric("host", column)),
  process: COLUMNS.process.map((column) => columnMetric("process", column)),
  link: COLUMNS.link.map((column) => columnMetric("link", column)),
  server: COLUMNS.server.map((column) => columnMetric("server", column)),
};

const metric = (type: MetricSpec["type"], name: string, help: string, labels: readonly string[] = []): MetricSpec => ({
  name: `whyslow_${name}`,
  type,
  help,
  labels,
});

const SPIKE_LABELS = ["class", "cause", "metric", "server"];

/** What the agent says about itself, prom-client's figures of the process apart (`whyslow_agent_process_…`, `whyslow_agent_nodejs_…`). */
export const AGENT_METRICS = {
  buildInfo: metric("gauge", "build_info", "1, with the version of whyslow and of Node.js", ["version", "node_version"]),
  clockSteps: metric("counter", "clock_steps_total", "Steps of the wall clock seen since the start"),
  success: metric("gauge", "collector_success", "1 when the collector's last attempt gave a reading", ["collector"]),
  duration: metric("gauge", "collector_duration_seconds", "Time that the last attempt took", ["collector"]),
  lastSuccess: metric("gauge", "collector_last_success_timestamp_seconds", "Unix time of the last reading", ["collector"]),
  attempts: metric("counter", "collector_attempts_total", "Polls, or starts of a stream", ["collector"]),
  failures: metric("counter", "collector_failures_total", "Attempts that failed, timeouts included", ["collector"]),
  timeouts: metric("counter", "collector_timeouts_total", "Polls that gave no answer in time, and streams that fell silent", ["collector"]),
  restarts: metric("counter", "collector_restarts_total", "Restarts of a stream, and of a poll that did not end after its deadline", [
    "collector",
  ]),
  missed: metric(
    "counter",
    "collector_missed_ticks_total",
    "Polls left out: one was still running, the agent was late, or after failures",
    ["collector"],
  ),
  samples: metric("counter", "collector_samples_total", "Samples stored", ["collector"]),
  rejected: metric("counter", "collector_rejected_total", "Refused rows and values", ["collector", "reason"]),
  storeWritable: metric("gauge", "store_writable", "1 when the last attempt to commit succeeded"),
  storeBuffered: metric("gauge", "store_buffered_rows", "Rows that wait for the next commit"),
  storeDropped: metric("counter", "store_dropped_rows_total", "Rows lost because the database could not be written for too long"),
  storeFlushes: metric("counter", "store_flushes_total", "Committed batches"),
  storeFlushDuration: metric("gauge", "store_last_flush_duration_seconds", "Time that the last commit took"),
  otlpSpans: metric("counter", "otlp_spans_total", "Spans received, by what became of them: request, ignored, rejected", ["outcome"]),
  otlpRefused: metric("counter", "otlp_refused_exports_total", "Exports that were refused whole, by protocol and reason", [
    "protocol",
    "reason",
  ]),
  spikes: metric(
    "counter",
    "spikes_total",
    "Slow requests found while the agent runs, final verdicts, one for each slow metric",
    SPIKE_LABELS,
  ),
  spikeExcess: metric("counter", "spike_excess_seconds_total", "Time that those requests took beyond what was expected", SPIKE_LABELS),
  episodes: metric("counter", "episodes_total", "Episodes of slow requests, and of hung servers, with a final verdict", SPIKE_LABELS),
  episodesOpen: metric("gauge", "episodes_open", "Episodes found whose verdict is not final yet", SPIKE_LABELS),
  livePasses: metric("counter", "live_passes_total", "Times that the last minutes were judged"),
  liveFailures: metric("counter", "live_failures_total", "Times that judging the last minutes failed"),
  liveDuration: metric("gauge", "live_last_pass_duration_seconds", "Time that the last pass of live judging took, in a thread of its own"),
} as const satisfies Readonly<Record<string, MetricSpec>>;

/** All metrics but prom-client's, for the documentation. */
export const allMetrics = (): MetricSpec[] => [...ENTITY_KINDS.flatMap((kind) => COLUMN_METRICS[kind]), ...Object.values(AGENT_METRICS)];
