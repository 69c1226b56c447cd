import type { Metric, RequestColumns } from "../../schemas/index.js";
import type { Detection, MetricDetection } from "./detector.js";
import type { GroupRequests } from "./group-requests.js";

/** A stretch in which one slow request lost time, µs; `rate` is the share of the stretch that is excess. */
export interface Loss {
  readonly row: number;
  readonly part: "first_token" | "decode" | "stall";
  readonly from: number;
  readonly to: number;
  readonly rate: number;
}

/** A gap counts as a stall above this many usual gaps. */
const STALL_RATIO = 3;
/** Recorded gaps explain a slow decode as stalls if they hold at least this share of its excess. */
const STALL_SHARE = 0.4;

/** A broken limit without any excess over the usual: the whole request counts, thinly. */
const LIMIT_RATE = 0.1;

const metricOf = (detection: Detection, name: Metric): MetricDetection => detection.metrics.find((m) => m.metric === name)!;

const stalls = (q: GroupRequests, all: RequestColumns, row: number): Loss[] => {
  const r = q.row[row]!;
  const usual = q.medianGap[row]!;
  const out: Loss[] = [];
  let t = q.first[row]!;
  for (let k = all.gap_offset[r]!; k < all.gap_offset[r + 1]!; k++) {
    const gap = all.gap_ms[k]!;
    t += gap * 1000;
    if (gap > STALL_RATIO * usual && gap - usual >= 20) out.push({ row, part: "stall", from: t - (gap - usual) * 1000, to: t, rate: 1 });
  }
  return out;
};

/** Where one flagged request lost its time; empty when it is not flagged or its stamps are missing. */
export const lossesOf = (q: GroupRequests, all: RequestColumns, detection: Detection, i: number): Loss[] => {
  const [ttft, e2e] = [metricOf(detection, "ttft"), metricOf(detection, "e2e")];
  const flagged = (name: Metric) => {
    const m = metricOf(detection, name);
    return m.candidate[i] === 1 || m.violation[i] === 1;
  };
  const slowDecode = flagged("e2e") || flagged("tpot");
  const losses: Loss[] = [];
  const late = q.ttft[i]! - ttft.expected[i]!;
  if (late > 0 && (flagged("ttft") || late >= 50) && Number.isFinite(q.first[i]!)) {
    const from = Math.max(q.sent[i]!, q.first[i]! - late * 1000);
    if (q.first[i]! > from) losses.push({ row: i, part: "first_token", from, to: q.first[i]!, rate: 1 });
  }
  const decode = q.end[i]! - q.first[i]!;
  const excess = q.e2e[i]! - q.ttft[i]! - Math.max(0, e2e.expected[i]! - ttft.expected[i]!);
  const long = stalls(q, all, i);
  const stalled = long.reduce((a, l) => a + (l.to - l.from) / 1000, 0);
  if (slowDecode && excess > 0 && decode > 0) {
    if (stalled >= STALL_SHARE * excess) losses.push(...long);
    else losses.push({ row: i, part: "decode", from: q.first[i]!, to: q.end[i]!, rate: Math.min(1, (excess * 1000) / decode) });
  } else if (flagged("itl")) losses.push(...long);
  if (losses.length > 0) return losses;
  return q.end[i]! > q.sent[i]! ? [{ row: i, part: "decode", from: q.sent[i]!, to: q.end[i]!, rate: LIMIT_RATE }] : [];
};

/** The flagged requests of a group by row, with where each lost its time. */
export const findLosses = (q: GroupRequests, all: RequestColumns, detection: Detection): Map<number, Loss[]> => {
  const out = new Map<number, Loss[]>();
  for (let i = 0; i < q.n; i++) {
    if (!detection.metrics.some((m) => m.candidate[i] === 1 || m.violation[i] === 1)) continue;
    const losses = lossesOf(q, all, detection, i);
    if (losses.length > 0) out.set(i, losses);
  }
  return out;
};
