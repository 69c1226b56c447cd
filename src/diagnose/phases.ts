import type { Phase, RequestColumns } from "../../schemas/index.js";
import { median } from "../core/quantile.js";
import type { Detection } from "./detector.js";
import type { PendingSplit } from "./gauge-split.js";
import type { GroupRequests } from "./group-requests.js";
import type { Incident } from "./incidents.js";
import type { PhaseShares } from "./phase-shares.js";

/** What is usual for the parts of TTFT that only some observers measure, ms. */
export interface UsualParts {
  readonly network: number;
  readonly tokenize: number;
  readonly transfer: number;
  /** TTFT - queue - prefill of requests that ran alone. */
  readonly rest: number;
  /** Longest prefill seen: what a request may have to wait for the running step. */
  readonly longestStep: number;
}

const usualOf = (values: Float64Array, rows: Int32Array): number => {
  const kept = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) kept[i] = values[rows[i]!]!;
  const m = median(kept);
  return Number.isFinite(m) ? m : 0;
};

export const usualParts = (q: GroupRequests, baseRows: Int32Array): UsualParts => {
  const network = new Float64Array(q.n);
  const rest = new Float64Array(q.n);
  let longestStep = 0;
  for (let i = 0; i < q.n; i++) {
    network[i] = q.ttft[i]! - q.serverTtft[i]!;
    rest[i] = serverTtftOf(q, i) - q.queue[i]! - q.prefill[i]!;
    if (q.prefill[i]! > longestStep) longestStep = q.prefill[i]!;
  }
  return {
    network: usualOf(network, baseRows),
    tokenize: usualOf(q.tokenize, baseRows),
    transfer: usualOf(q.transfer, baseRows),
    rest: usualOf(rest, baseRows),
    longestStep,
  };
};

const serverTtftOf = (q: GroupRequests, i: number): number => (Number.isFinite(q.serverTtft[i]!) ? q.serverTtft[i]! : q.ttft[i]!);

/** Residuals above this many idle baselines, beyond the longest step, are no wait for the running step. */
const IDLE_MULTIPLE = 3;

/**
 * Attributes the excess of an incident to phases. What a request's own stamps tell comes first; the rest of a slow first token is split
 * by the server's gauges where they exist, and stays `unattributed` where nothing tells: never by a guess.
 */
export const attributePhases = (
  incident: Incident,
  q: GroupRequests,
  all: RequestColumns,
  detection: Detection,
  usual: UsualParts,
  split: PendingSplit | null,
): PhaseShares => {
  if (incident.given !== undefined) return incident.given.phases;
  const sum: Partial<Record<Phase, number>> = {};
  const add = (phase: Phase, ms: number) => {
    if (ms > 0) sum[phase] = (sum[phase] ?? 0) + ms;
  };
  const ttft = detection.metrics.find((m) => m.metric === "ttft")!;
  for (const loss of incident.losses) {
    const ms = ((loss.to - loss.from) / 1000) * loss.rate;
    if (loss.part !== "first_token") {
      add(loss.part, ms);
      continue;
    }
    let left = ms;
    const take = (phase: Phase, amount: number) => {
      if (!(amount > 0) || !(left > 0)) return;
      const part = Math.min(left, amount);
      add(phase, part);
      left -= part;
    };
    const i = loss.row;
    if ((all.seen_by[q.row[i]!]! & 3) === 3) take("network", q.ttft[i]! - q.serverTtft[i]! - usual.network);
    take("tokenize", q.tokenize[i]! - usual.tokenize);
    take("transfer", q.transfer[i]! - usual.transfer);
    take("queue", q.queue[i]!);
    if (Number.isFinite(q.prefill[i]!) && Number.isFinite(q.queue[i]!)) {
      const rest = serverTtftOf(q, i) - q.queue[i]! - q.prefill[i]!;
      const step = Math.min(rest - usual.rest, usual.longestStep);
      take("prefill", q.prefill[i]! - Math.min(q.prefill[i]!, ttft.expected[i]!));
      take("queue", step);
      const beyond = rest - usual.longestStep - IDLE_MULTIPLE * usual.rest;
      if (!Number.isFinite(q.tokenize[i]!)) take("tokenize", beyond);
      take("prefill", left);
      continue;
    }
    // A span that the server itself wrote begins behind the network: what comes before its queue is its own front end.
    const front = (all.seen_by[q.row[i]!]! & 2) !== 0 ? "tokenize" : "ingress";
    spread(left, Number.isFinite(q.queue[i]!), split, front, add);
  }
  const total = Object.values(sum).reduce((a, b) => a + b, 0);
  if (!(total > 0)) return { unattributed: 1 };
  const out: Partial<Record<Phase, number>> = {};
  for (const phase of Object.keys(sum).sort() as Phase[]) out[phase] = sum[phase]! / total;
  return out;
};

/** Splits what the request's own stamps leave open. A measured queue has been taken already. */
const spread = (
  ms: number,
  queueKnown: boolean,
  split: PendingSplit | null,
  front: Phase,
  add: (phase: Phase, ms: number) => void,
): void => {
  if (!(ms > 0)) return;
  if (split === null) {
    add(queueKnown ? "prefill" : "unattributed", queueKnown ? ms / 2 : ms);
    if (queueKnown) add("unattributed", ms / 2);
    return;
  }
  const queue = queueKnown ? 0 : split.queue;
  const rest = split.ingress + split.prefill + queue;
  if (!(rest > 0)) {
    add("prefill", ms);
    return;
  }
  add(front, (ms * split.ingress) / rest);
  add("queue", (ms * queue) / rest);
  add("prefill", (ms * split.prefill) / rest);
};
