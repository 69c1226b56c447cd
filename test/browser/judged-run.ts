import { syntheticRun } from "../../bench/synthetic-run.js";
import { type Episode, METRICS, type Report, reportSchema, type Spike, type VerdictClass } from "../../schemas/report.js";
import { quantile, sortedFinite } from "../../src/core/quantile.js";
import type { ReportInput } from "../../src/report/html/html-report.js";
import { formatIso } from "../../src/time/iso-time.js";

const BURSTS: readonly { class: VerdictClass; cause: string | null; server: string }[] = [
  { class: "kv_cache", cause: "preemption-storm", server: "llm-0" },
  { class: "compute", cause: "burst-saturation", server: "llm-0" },
  { class: "indeterminate", cause: null, server: "llm-0" },
];
const SECONDS = 300;
/** The synthetic run's bursts begin in the middle of each third and last for a hundredth of the run. */
const EXPECTED_MS = 60;

/** A run of 1,500 requests with three episodes whose verdicts are written by hand: what the page shows does not hang on how one judges. */
export function judgedRun(): ReportInput {
  const { requests, telemetry, clock, run } = syntheticRun({ requests: 1500, seconds: SECONDS, gaps_per_request: 4, bursts: 3 });
  const start = run.start_us!;
  const spikes: Spike[] = [];
  const episodes = BURSTS.map((burst, i): Episode => {
    const from = start + ((i + 0.5) / 3) * SECONDS * 1e6;
    const to = from + (SECONDS / 100) * 1e6;
    const id = `ep-${i}`;
    let excess_ms = 0;
    let n = 0;
    for (let r = 0; r < requests.n; r++) {
      const observed_ms = Math.round(requests.ttft_ms[r]! * 1000) / 1000;
      if (requests.arrival_us[r]! < from || requests.arrival_us[r]! > to || observed_ms < 2 * EXPECTED_MS) continue;
      n++;
      excess_ms += observed_ms - EXPECTED_MS;
      spikes.push({
        request_id: requests.request_id[r]!,
        metric: "ttft",
        start: formatIso(requests.arrival_us[r]!),
        end: formatIso(requests.first_token_us[r]!),
        observed_ms,
        expected_ms: EXPECTED_MS,
        excess_ms: observed_ms - EXPECTED_MS,
        class: burst.class,
        cause: burst.cause,
        confidence: burst.cause === null ? null : 0.81 + i / 100,
        episode: id,
        censored: r % 7 === 0,
      });
    }
    return episode(id, burst, from, to, n, excess_ms, i);
  });
  const summary = Object.fromEntries(
    METRICS.map((m) => [`${m}_ms`, percentiles(m === "ttft" ? requests.ttft_ms : m === "e2e" ? requests.e2e_ms : [])]),
  );
  const counts = (of: readonly { class: VerdictClass }[]): Record<VerdictClass, number> => {
    const by = { compute: 0, bandwidth: 0, kv_cache: 0, cpu_tokenization: 0, communication: 0, indeterminate: 0 };
    for (const { class: c } of of) by[c]++;
    return by;
  };
  const report: Report = reportSchema.parse({
    schema: "whyslow.report/v1",
    run: { id: run.id, start: formatIso(start), end: formatIso(run.end_us!), manifest: run.manifest },
    data: {
      requests: requests.n,
      sources: telemetry.tracks.slice(-2).map((t) => ({
        source: t.source.name,
        entity_kind: t.entity.kind,
        entities: 1,
        samples: t.ts_us.length,
        interval_ms: 1000,
        window_ms: null,
        lag_ms: null,
        coverage: 0.85,
        rejected: 3,
      })),
      clock,
      warnings: [{ code: "REQUESTS_OPEN", text: "2 requests had not finished" }],
      missing: ["congestion"],
      joined: 12,
    },
    summary: {
      ...summary,
      spikes: { total: spikes.length, by_class: counts(spikes) },
      bottleneck: { by_class: counts([]), class: "compute", confidence: 0.6 },
    },
    episodes,
    spikes,
  });
  return { report, requests, telemetry };
}

function episode(
  id: string,
  burst: (typeof BURSTS)[number],
  from: number,
  to: number,
  requests: number,
  excess_ms: number,
  i: number,
): Episode {
  const window: [string, string] = [formatIso(from), formatIso(to)];
  const known = burst.cause !== null;
  return {
    id,
    start: window[0],
    end: window[1],
    metric: "ttft",
    requests,
    excess_ms,
    class: burst.class,
    cause: burst.cause,
    driver: known ? "workload" : null,
    confidence: known ? 0.81 + i / 100 : null,
    band: known ? "high" : null,
    runner_up: known ? { class: "bandwidth", confidence: 0.06, separated_by: "DRAM activity" } : null,
    phases: { queue: 0.7, prefill: 0.3 },
    evidence: [
      {
        fact: "kv_full",
        value: 0.97,
        expected: 0.3,
        window,
        quality: 0.9,
        weight_nats: 1.6 + i,
        source: "vllm",
        text: "KV cache 0.97 full, usually 0.30",
      },
      { fact: "dram_hi", value: 0.4, expected: 0.41, window, quality: 0.9, weight_nats: -0.2, source: "dcgm-exporter" },
      { fact: "psi", value: 0.001, expected: 0, window, quality: 0.9, weight_nats: 0.01, source: "node_exporter" },
    ],
    missing: ["congestion", "link_hi"],
    kind: known ? null : "unknown",
    reason: known ? null : "LOW_COVERAGE",
    basis: "requests",
    confidence_basis: "simulated",
    caused_by: [{ what: "request req-00000042", share: 0.4 }],
    remedy: known ? { text: `mend number ${i}`, addresses_ms: excess_ms * 0.9 } : null,
    prior_nats: -1.2,
    score_nats: 1.9,
    measure_next: "DCGM profiling fields",
    server: burst.server,
  };
}

function percentiles(values: ArrayLike<number>): Report["summary"]["ttft_ms"] {
  const n = sortedFinite(values).length;
  if (n === 0) return { p50: null, p95: null, p99: null, mean: null, max: null, n: 0 };
  // A percentile that is said to be too few is part of what is looked at.
  return { p50: quantile(values, 0.5), p95: quantile(values, 0.95), p99: null, mean: quantile(values, 0.6), max: quantile(values, 1), n };
}
