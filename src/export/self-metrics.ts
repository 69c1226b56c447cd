import { collectDefaultMetrics, Registry } from "prom-client";

export interface SelfMetrics {
  /** The process's own figures as text format 0.0.4. */
  text(): Promise<string>;
}

/**
 * prom-client's figures of our own process (CPU, memory, event loop, garbage collection) under `whyslow_agent_`; the plain
 * `whyslow_process_` belongs to the watched processes. Gauges that it names like counters are left out: they fail the format's linter.
 */
export function createSelfMetrics(): SelfMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "whyslow_agent_", eventLoopMonitoringPrecision: 100 });
  const misnamed = registry.getMetricsAsArray().filter((m) => (m.type as unknown as string) === "gauge" && m.name.endsWith("_total"));
  for (const { name } of misnamed) registry.removeSingleMetric(name);
  return { text: () => registry.metrics() };
}
