import type { RequestColumns } from "../../schemas/index.js";
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

const metricOf = (detection: Detection, name: string): MetricDetection => detection.metrics.find((m) => m.metric === name)!;

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

/** Where the flagged requests of a group lost their time, by row. */
export const findLosses = (q: GroupRequests, all: RequestColumns, detection: Detection): Map<number, Loss[]> => {
  const ttft = metricOf(detection, "ttft");
  const e2e = metricOf(detection, "e2e");
  const tpot = metricOf(detection, "tpot");
  const itl = metricOf(detection, "itl");
  const out = new Map<number, Loss[]>();
  for (let i = 0; i < q.n; i++) {
    const flagged = (m: MetricDetection) => m.candidate[i] === 1 || m.violation[i] === 1;
    const slowStart = flagged(ttft);
    const slowDecode = flagged(e2e) || flagged(tpot);
    if (!slowStart && !slowDecode && !flagged(itl) && !flagged(metricOf(detection, "queue"))) continue;
    const losses: Loss[] = [];
    const late = q.ttft[i]! - ttft.expected[i]!;
    if (late > 0 && (slowStart || late >= 50) && Number.isFinite(q.first[i]!)) {
      const from = Math.max(q.sent[i]!, q.first[i]! - late * 1000);
      if (q.first[i]! > from) losses.push({ row: i, part: "first_token", from, to: q.first[i]!, rate: 1 });
    }
    const decode = q.end[i]! - q.first[i]!;
    const expected = Math.max(0, e2e.expected[i]! - ttft.expected[i]!);
    const excess = q.e2e[i]! - q.ttft[i]! - expected;
    const long = stalls(q, all, i);
    const stalled = long.reduce((a, l) => a + (l.to - l.from) / 1000, 0);
    if (slowDecode && excess > 0 && decode > 0) {
      if (stalled >= STALL_SHARE * excess) losses.push(...long);
      else losses.push({ row: i, part: "decode", from: q.first[i]!, to: q.end[i]!, rate: Math.min(1, (excess * 1000) / decode) });
    } else if (flagged(itl)) losses.push(...long);
    if (losses.length > 0) out.set(i, losses);
  }
  return out;
};
