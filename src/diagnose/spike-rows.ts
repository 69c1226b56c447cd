import type { Episode, Metric, RequestColumns, Spike } from "../../schemas/index.js";
import { formatIso } from "../time/iso-time.js";
import type { Detection } from "./detector.js";
import { rounded } from "./evidence.js";
import type { GroupRequests } from "./group-requests.js";
import type { Incident } from "./incidents.js";

/** Queueing is listed beside a slow first token when it is long by itself and a good part of it. */
const QUEUE_MS = 100;
const QUEUE_SHARE = 0.3;

const longestGapEnd = (q: GroupRequests, all: RequestColumns, i: number): number => {
  const r = q.row[i]!;
  let t = q.first[i]!;
  let best = Number.NaN;
  let longest = -1;
  for (let k = all.gap_offset[r]!; k < all.gap_offset[r + 1]!; k++) {
    const gap = all.gap_ms[k]!;
    t += gap * 1000;
    if (gap > longest) {
      longest = gap;
      best = t;
    }
  }
  return best;
};

/** Start and end of what was slow, µs. */
const spanOf = (metric: Metric, q: GroupRequests, all: RequestColumns, i: number): [number, number] => {
  switch (metric) {
    case "ttft":
      return [q.sent[i]!, q.first[i]!];
    case "queue":
      return [q.arrival[i]!, q.arrival[i]! + q.queue[i]! * 1000];
    case "tpot":
      return [q.first[i]!, q.end[i]!];
    case "itl": {
      const end = longestGapEnd(q, all, i);
      return [end - q.maxGap[i]! * 1000, end];
    }
    default:
      return [q.sent[i]!, q.end[i]!];
  }
};

/** One row for every request and metric that is slow, under the verdict of its episode. */
export const spikeRows = (incident: Incident, episode: Episode, q: GroupRequests, all: RequestColumns, detection: Detection): Spike[] => {
  const out: Spike[] = [];
  const push = (i: number, metric: Metric, observed: number, expected: number) => {
    const [start, end] = spanOf(metric, q, all, i);
    if (!Number.isFinite(start) || !Number.isFinite(end) || !Number.isFinite(observed)) return;
    const usual = Number.isFinite(expected) ? expected : 0;
    out.push({
      request_id: all.request_id[q.row[i]!]!,
      metric,
      start: formatIso(Math.round(start)),
      end: formatIso(Math.round(Math.max(start, end))),
      observed_ms: rounded(observed, 3)!,
      expected_ms: rounded(usual, 3)!,
      excess_ms: rounded(observed - usual, 3)!,
      class: episode.class,
      cause: episode.cause,
      confidence: episode.confidence,
      episode: episode.id,
      censored: q.censored[i] === 1,
    });
  };
  const ttft = detection.metrics.find((m) => m.metric === "ttft")!;
  for (const i of incident.rows) {
    for (const m of detection.metrics) {
      if (m.candidate[i] === 1 || m.violation[i] === 1) push(i, m.metric, m.observed[i]!, m.expected[i]!);
      else if (m.metric === "queue" && ttft.candidate[i] === 1 && q.queue[i]! >= QUEUE_MS && q.queue[i]! >= QUEUE_SHARE * q.ttft[i]!)
        push(i, "queue", q.queue[i]!, 0);
    }
  }
  return out;
};
