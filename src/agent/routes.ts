import { type AgentHealth, agentFamilies } from "../export/agent-families.js";
import { canonicalFamilies } from "../export/canonical-metrics.js";
import type { LatestValues } from "../export/latest-values.js";
import type { SelfMetrics } from "../export/self-metrics.js";
import { type ExpositionFamily, writeExposition } from "../text/exposition-writer.js";
import type { CollectorState } from "./collector-state.js";
import { jsonAnswer, type Route } from "./http-api.js";

export interface RouteDeps {
  readonly version: string;
  readonly node: string;
  readonly latest: LatestValues;
  readonly self: SelfMetrics;
  readonly states: readonly CollectorState[];
  health(): AgentHealth;
  /** Families of what was found live. */
  found(): readonly ExpositionFamily[];
}

/** What the agent serves, `/api/v1/report` apart. */
export function agentRoutes(deps: RouteDeps, others: readonly Route[]): Route[] {
  const routes: Route[] = [
    {
      path: "/metrics",
      help: "Prometheus scrape target: latest readings, collector health, the agent itself",
      answer: async () => ({
        status: 200,
        type: "exposition",
        body:
          writeExposition([...canonicalFamilies(deps.latest.fresh()), ...agentFamilies(deps.health()), ...deps.found()]) +
          (await deps.self.text()),
      }),
    },
    { path: "/healthz", help: "200 while the process lives", answer: () => ({ status: 200, type: "text", body: "ok\n" }) },
    { path: "/readyz", help: "200 once data is committed, 503 while it cannot be", answer: () => readiness(deps.health().store) },
    {
      path: "/api/v1/collectors",
      help: "every collector and its state",
      answer: () => jsonAnswer({ collectors: deps.states.map(stateJson) }),
    },
    ...others,
  ];
  const list = routes.map((route) => `${route.path.padEnd(22)}${route.help}\n`).join("");
  const index: Route = {
    path: "/",
    help: "this list",
    answer: () => ({ status: 200, type: "text", body: `whyslow ${deps.version}, agent of ${deps.node}\n\n${list}` }),
  };
  return [index, ...routes];
}

function readiness(store: AgentHealth["store"]): Awaited<ReturnType<Route["answer"]>> {
  if (store.lastError !== null) return { status: 503, type: "text", body: `the database cannot be written: ${store.lastError}\n` };
  if (store.flushes === 0) return { status: 503, type: "text", body: "nothing is committed yet\n" };
  return { status: 200, type: "text", body: "ready\n" };
}

const stateJson = (state: CollectorState) => ({
  name: state.name,
  mode: state.mode,
  status: state.status,
  interval_ms: state.intervalMs,
  success: state.success,
  last_success: state.lastSuccessUs === null ? null : new Date(state.lastSuccessUs / 1000).toISOString(),
  last_error: state.lastError,
  notice: state.notice,
  found: state.detection?.found ?? null,
  detail: state.detection?.text ?? null,
  mend: state.detection?.mend ?? null,
  duration_ms: state.durationMs,
  attempts: state.attempts,
  failures: state.failures,
  timeouts: state.timeouts,
  restarts: state.restarts,
  missed_ticks: state.missed,
  samples: state.samples,
  rejected: Object.fromEntries(state.rejected),
});
