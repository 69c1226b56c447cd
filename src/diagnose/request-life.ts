import type {
  DecisionTable,
  DiagnosisInput,
  LifeLoad,
  LifeMetric,
  LifePhase,
  LifePrefill,
  Report,
  RequestLife,
} from "../../schemas/index.js";
import { REQUEST_STATUSES } from "../../schemas/index.js";
import { median } from "../core/quantile.js";
import { integralOver, meanOver, type StepFunction, valueAt } from "../core/step-function.js";
import { formatIso } from "../time/iso-time.js";
import { canonicalTelemetry } from "./canonical-telemetry.js";
import type { GroupContext } from "./episode-context.js";
import { rounded } from "./evidence.js";
import { groupContext } from "./group-context.js";
import { serverGroups } from "./server-groups.js";
import { TelemetryView } from "./telemetry-view.js";

/** Prefills of others that are listed. */
const LISTED_PREFILLS = 4;

const ms = (x: number): number | null => rounded(x, 3);
const count = (x: number): number | null => (Number.isFinite(x) ? x : null);

/**
 * What is known of one request: its latencies and phases against what is expected, what ran beside it, and the episodes of `report` that
 * hold it. Null when there is no such request. Pure, like the diagnosis, of which it uses the same baselines.
 */
export const requestLife = (given: DiagnosisInput, table: DecisionTable, report: Report, requestId: string): RequestLife | null => {
  const row = given.requests.request_id.indexOf(requestId);
  if (row < 0) return null;
  const input = canonicalTelemetry(given);
  const view = new TelemetryView();
  const group = serverGroups(input).find((g) => g.rows.includes(row));
  if (group === undefined) return null;
  const ctx = groupContext(input, group, view, table, lastTime(input));
  const i = group.rows.indexOf(row);
  const { q, all } = ctx;
  const held = new Set(report.spikes.filter((s) => s.request_id === requestId).map((s) => s.episode));
  const [from, to] = [q.sent[i]!, Number.isFinite(q.end[i]!) ? q.end[i]! : q.sent[i]!];
  const slow = new Set(report.spikes.filter((s) => s.request_id === requestId).map((s) => s.metric));
  const during = report.episodes.filter(
    (e) => e.server === group.name && e.start < formatIso(Math.round(to)) && e.end > formatIso(Math.round(from)),
  );
  return {
    schema: "whyslow.request/v1",
    request_id: requestId,
    server: group.name,
    model: all.models[all.model[row]!] ?? null,
    status: REQUEST_STATUSES[all.status[row]!]!,
    slow: slow.size > 0,
    censored: q.censored[i] === 1,
    sent: formatIso(Math.round(from)),
    end: Number.isFinite(all.end_us[row]!) ? formatIso(Math.round(all.end_us[row]!)) : null,
    tokens: { input: count(q.input[i]!), cached: count(all.cached_tokens[row]!), output: count(q.output[i]!) },
    metrics: metricsOf(ctx, i, slow),
    phases: phasesOf(ctx, i),
    beside: loadsOf(ctx, i, to),
    ahead: Math.max(0, Math.round(valueAt(ctx.load.pending, q.arrival[i]! - 1))),
    prefills: prefillsOf(ctx, i, to),
    episodes: report.episodes.filter((e) => held.has(e.id)),
    passed: during.filter((e) => !held.has(e.id)).map((e) => e.id),
  };
};

const lastTime = (input: DiagnosisInput): number => {
  let last = input.run.end_us ?? Number.NEGATIVE_INFINITY;
  for (const t of input.telemetry.tracks) if (t.ts_us.length > 0) last = Math.max(last, t.ts_us[t.ts_us.length - 1]!);
  for (const end of input.requests.end_us) if (end > last) last = end;
  for (const arrival of input.requests.arrival_us) if (arrival > last) last = arrival;
  return last;
};

const metricsOf = (ctx: GroupContext, i: number, slow: ReadonlySet<string>): LifeMetric[] =>
  ctx.detection.metrics.flatMap(({ metric, observed, expected }) => {
    const value = ms(observed[i]!);
    if (value === null) return [];
    // A queue is judged by its size: what is usual there is said, not what is expected.
    const usual = metric === "queue" ? usualOf(ctx, ctx.q.queue) : expected[i]!;
    return [{ metric, observed_ms: value, expected_ms: ms(usual), slow: slow.has(metric) }];
  });

const usualOf = (ctx: GroupContext, values: Float64Array): number => median(Float64Array.from(ctx.detection.fitRows, (r) => values[r]!));

/** The request's own stamps, in their order; what none of them tells is `unattributed`. */
const phasesOf = (ctx: GroupContext, i: number): LifePhase[] => {
  const { q, all, usualParts, detection } = ctx;
  const expectedTtft = detection.metrics.find((m) => m.metric === "ttft")!.expected[i]!;
  const expectedE2e = detection.metrics.find((m) => m.metric === "e2e")!.expected[i]!;
  const phases: LifePhase[] = [];
  let at = 0;
  const push = (phase: LifePhase["phase"], observed: number, expected: number): void => {
    const length = ms(observed);
    if (length === null || length < 0) return;
    phases.push({ phase, start_ms: ms(at) ?? 0, observed_ms: length, expected_ms: ms(expected) });
    at += length;
  };
  const bothSeen = (all.seen_by[q.row[i]!]! & 3) === 3;
  if (bothSeen) push("network", Math.max(0, q.ttft[i]! - q.serverTtft[i]!), usualParts.network);
  const usualQueue = usualOf(ctx, q.queue);
  const split = Number.isFinite(q.queue[i]!) && Number.isFinite(q.prefill[i]!);
  if (split) {
    const whole = bothSeen ? q.serverTtft[i]! : q.ttft[i]!;
    const own = [q.tokenize[i]!, q.transfer[i]!].filter(Number.isFinite).reduce((a, b) => a + b, 0);
    push("tokenize", q.tokenize[i]!, usualParts.tokenize);
    push("unattributed", Math.max(0, whole - own - q.queue[i]! - q.prefill[i]!), usualParts.rest);
    push("queue", q.queue[i]!, usualQueue);
    push("prefill", q.prefill[i]!, Math.max(0, expectedTtft - usualQueue - usualParts.rest - (bothSeen ? usualParts.network : 0)));
    push("transfer", q.transfer[i]!, usualParts.transfer);
  } else push("first_token", bothSeen ? q.serverTtft[i]! : q.ttft[i]!, expectedTtft - (bothSeen ? usualParts.network : 0));
  push("decode", q.e2e[i]! - q.ttft[i]!, Math.max(0, expectedE2e - expectedTtft));
  return phases;
};

const mostOver = (f: StepFunction, from: number, to: number): number => {
  let most = valueAt(f, from);
  for (let k = 0; k < f.at.length; k++) if (f.at[k]! > from && f.at[k]! < to && f.value[k]! > most) most = f.value[k]!;
  return most;
};

const loadsOf = (ctx: GroupContext, i: number, to: number): LifeLoad[] => {
  const { q, load, view, group } = ctx;
  const from = q.arrival[i]!;
  const loads: LifeLoad[] = [];
  const add = (what: string, unit: LifeLoad["unit"], mean: number, most: number, usual: number): void => {
    const [a, b] = [rounded(mean, 3), rounded(most, 3)];
    if (a !== null && b !== null) loads.push({ what, unit, mean: a, most: b, usual: rounded(usual, 3) });
  };
  const ofTrace = (what: string, unit: LifeLoad["unit"], f: StepFunction): void => {
    const [first, last] = [f.at[0] ?? 0, f.at[f.at.length - 1] ?? 0];
    add(
      what,
      unit,
      meanOver(f, from, to),
      mostOver(f, from, to),
      last > first ? integralOver(f, first, last) / (last - first) : Number.NaN,
    );
  };
  ofTrace("requests in flight", "requests", load.inFlight);
  ofTrace("waiting for a first token", "requests", load.pending);
  ofTrace("in decode", "requests", load.decoding);
  ofTrace("tokens of context in decode", "tokens", load.resident);
  for (const [column, what, unit] of GAUGES) {
    const found = view.best(group.servers, column);
    if (found === null) continue;
    const { series } = found;
    let [sum, length, most] = [0, 0, Number.NEGATIVE_INFINITY];
    for (let k = 0; k < series.n; k++) {
      const overlap = Math.min(series.to[k]!, to) - Math.max(series.from[k]!, from);
      if (!(overlap > 0)) continue;
      sum += overlap * series.value[k]!;
      length += overlap;
      most = Math.max(most, series.value[k]!);
    }
    if (length > 0) add(what, unit, sum / length, most, median(series.value));
  }
  return loads;
};

const GAUGES = [
  ["running", "running, by the server's gauge", "requests"],
  ["waiting", "queued, by the server's gauge", "requests"],
  ["kv_usage_ratio", "KV cache in use", "ratio"],
] as const;

const prefillsOf = (ctx: GroupContext, i: number, to: number): RequestLife["prefills"] => {
  const { q, all, prefillFrom } = ctx;
  if (prefillFrom === null) return null;
  const found: LifePrefill[] = [];
  for (let k = 0; k < q.n; k++) {
    const overlap = Math.min(q.first[k]!, to) - Math.max(prefillFrom[k]!, q.arrival[i]!);
    if (k === i || !(overlap > 0)) continue;
    found.push({ request_id: all.request_id[q.row[k]!]!, tokens: count(q.uncached[k]!), overlap_ms: ms(overlap / 1000)! });
  }
  found.sort((a, b) => b.overlap_ms - a.overlap_ms || (a.request_id < b.request_id ? -1 : 1));
  return { total: found.length, tokens: found.reduce((sum, p) => sum + (p.tokens ?? 0), 0), longest: found.slice(0, LISTED_PREFILLS) };
};
