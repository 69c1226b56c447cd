import { AGENT_METRICS, type MetricSpec } from "../../schemas/metric-catalogue.js";
import type { ExpositionFamily, ExpositionSample } from "../text/exposition-writer.js";

/** What a collector's runner knows of itself. */
export interface CollectorHealth {
  readonly name: string;
  /** Null before the first attempt has ended. */
  readonly success: boolean | null;
  readonly durationMs: number | null;
  readonly lastSuccessUs: number | null;
  readonly attempts: number;
  readonly failures: number;
  readonly timeouts: number;
  readonly restarts: number;
  readonly missed: number;
  readonly samples: number;
  readonly rejected: ReadonlyMap<string, number>;
}

export interface StoreHealth {
  readonly bufferedRows: number;
  readonly droppedRows: number;
  readonly flushes: number;
  readonly lastError: string | null;
  readonly lastFlushDurationMs: number | null;
}

export interface AgentHealth {
  readonly version: string;
  readonly clockSteps: number;
  readonly collectors: readonly CollectorHealth[];
  readonly store: StoreHealth;
  readonly otlp: {
    readonly spans: Readonly<Record<string, number>>;
    readonly refused: readonly { readonly protocol: string; readonly reason: string; readonly count: number }[];
  };
  readonly live: { readonly passes: number; readonly failures: number; readonly durationMs: number | null };
}

type Labels = Readonly<Record<string, string>>;

/** The agent's own state as metric families. What is not known yet has no sample. */
export function agentFamilies(health: AgentHealth): ExpositionFamily[] {
  const { collectors, store, otlp, live } = health;
  const family = (spec: MetricSpec, samples: readonly ExpositionSample[]): ExpositionFamily => ({
    name: spec.name,
    help: spec.help,
    type: spec.type,
    samples,
  });
  const one = (spec: MetricSpec, value: number | null, labels: Labels = {}): ExpositionFamily =>
    family(spec, value === null ? [] : [{ labels, value }]);
  const each = (spec: MetricSpec, pick: (health: CollectorHealth) => number | null): ExpositionFamily =>
    family(
      spec,
      collectors.flatMap((c) => {
        const value = pick(c);
        return value === null ? [] : [{ labels: { collector: c.name }, value }];
      }),
    );
  const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
  return [
    one(AGENT_METRICS.buildInfo, 1, { version: health.version, node_version: process.versions.node }),
    one(AGENT_METRICS.clockSteps, health.clockSteps),
    each(AGENT_METRICS.success, (c) => (c.success === null ? null : Number(c.success))),
    each(AGENT_METRICS.duration, (c) => seconds(c.durationMs)),
    each(AGENT_METRICS.lastSuccess, (c) => (c.lastSuccessUs === null ? null : c.lastSuccessUs / 1e6)),
    each(AGENT_METRICS.attempts, (c) => c.attempts),
    each(AGENT_METRICS.failures, (c) => c.failures),
    each(AGENT_METRICS.timeouts, (c) => c.timeouts),
    each(AGENT_METRICS.restarts, (c) => c.restarts),
    each(AGENT_METRICS.missed, (c) => c.missed),
    each(AGENT_METRICS.samples, (c) => c.samples),
    family(
      AGENT_METRICS.rejected,
      collectors.flatMap((c) => [...c.rejected].map(([reason, value]) => ({ labels: { collector: c.name, reason }, value }))),
    ),
    one(AGENT_METRICS.storeWritable, Number(store.lastError === null)),
    one(AGENT_METRICS.storeBuffered, store.bufferedRows),
    one(AGENT_METRICS.storeDropped, store.droppedRows),
    one(AGENT_METRICS.storeFlushes, store.flushes),
    one(AGENT_METRICS.storeFlushDuration, seconds(store.lastFlushDurationMs)),
    family(
      AGENT_METRICS.otlpSpans,
      Object.entries(otlp.spans).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    family(
      AGENT_METRICS.otlpRefused,
      otlp.refused.map(({ protocol, reason, count }) => ({ labels: { protocol, reason }, value: count })),
    ),
    one(AGENT_METRICS.livePasses, live.passes),
    one(AGENT_METRICS.liveFailures, live.failures),
    one(AGENT_METRICS.liveDuration, seconds(live.durationMs)),
  ];
}
