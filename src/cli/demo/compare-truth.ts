import type { FaultTruth } from "../../../lab/live-node.js";
import type { Report, Spike, VerdictClass } from "../../../schemas/report.js";
import type { RequestTruth } from "../../sim/truth.js";

export interface LabTruth {
  readonly faults: readonly FaultTruth[];
  readonly requests: readonly RequestTruth[];
}

/** What was done to the server beside what the report says of it. */
export interface FaultOutcome {
  readonly injected: string;
  readonly cause: string;
  readonly kind: string;
  readonly start_us: number;
  readonly end_us: number;
  /** Requests that it made slow, by the comparison with the same arrivals without it. */
  readonly slow: number;
  /** Of those, how many the report calls slow. */
  readonly found: number;
  /** The class that most of the found ones were given; null when none was found. */
  readonly named: VerdictClass | null;
  /** Of the found ones, how many were given that class. */
  readonly named_requests: number;
  /** Mean confidence of the spikes of that class. */
  readonly confidence: number | null;
  /** Half or more of the slow requests were found and their class is that of the fault. */
  readonly right: boolean;
}

export interface Comparison {
  readonly faults: readonly FaultOutcome[];
  /** Undisturbed requests, and how many of them the report calls slow in TTFT or E2E. */
  readonly quiet: number;
  readonly false_alarms: number;
  readonly all_right: boolean;
}

const MIN_FOUND = 0.5;
const RANK: Readonly<Record<string, number>> = { e2e: 3, ttft: 2, queue: 1 };

/** Spikes of a request that speak for its verdict: the weightiest metric first. */
function spikesOf(report: Report): Map<string, Spike[]> {
  const byRequest = new Map<string, Spike[]>();
  for (const spike of report.spikes) byRequest.set(spike.request_id, [...(byRequest.get(spike.request_id) ?? []), spike]);
  for (const spikes of byRequest.values()) spikes.sort((a, b) => (RANK[b.metric] ?? 0) - (RANK[a.metric] ?? 0));
  return byRequest;
}

export function compareWithTruth(report: Report, truth: LabTruth): Comparison {
  const spikes = spikesOf(report);
  const faults = truth.faults.map((fault, index): FaultOutcome => {
    const slow = truth.requests.filter((r) => r.spike === true && r.fault === index);
    const found = slow.flatMap((r) => spikes.get(r.request_id)?.slice(0, 1) ?? []);
    const votes = new Map<VerdictClass, number>();
    for (const spike of found) votes.set(spike.class, (votes.get(spike.class) ?? 0) + 1);
    const [named, named_requests] = [...votes].sort((a, b) => b[1] - a[1])[0] ?? [null, 0];
    const sure = found.filter((s) => s.class === named && s.confidence !== null).map((s) => s.confidence!);
    return {
      injected: fault.class,
      cause: fault.cause,
      kind: fault.kind,
      start_us: fault.start_us,
      end_us: fault.end_us,
      slow: slow.length,
      found: found.length,
      named,
      named_requests,
      confidence: sure.length === 0 ? null : sure.reduce((sum, c) => sum + c, 0) / sure.length,
      right: slow.length > 0 && found.length >= MIN_FOUND * slow.length && named === fault.class,
    };
  });
  const quiet = truth.requests.filter((r) => r.spike === false);
  const alarmed = quiet.filter((r) => spikes.get(r.request_id)?.some((s) => s.metric === "ttft" || s.metric === "e2e"));
  return {
    faults,
    quiet: quiet.length,
    false_alarms: alarmed.length,
    all_right: faults.length > 0 && faults.every((f) => f.right),
  };
}
