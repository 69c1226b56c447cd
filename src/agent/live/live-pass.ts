import type { DiagnosisInput } from "../../../schemas/diagnosis-input.js";
import type { Episode, Report, Spike } from "../../../schemas/report.js";
import { REQUEST_STATUSES } from "../../../schemas/requests.js";

/** A closed interval of time, integer µs since the epoch. */
export interface PassRange {
  readonly from_us: number;
  readonly to_us: number;
}

/** What one pass of the batch diagnosis over the last minutes gives. */
export interface LivePass extends PassRange {
  readonly episodes: readonly Episode[];
  readonly spikes: readonly Spike[];
  /** Nothing that began this long ago gets new telemetry: `max(10 s, W + L + 2 sigma)`, ms. */
  readonly settle_ms: number;
  /** The longest request of the range: one as long may have begun just before now and is not known yet, ms. */
  readonly longest_ms: number;
  /** Start of the oldest request that is known to be open; null when none is. */
  readonly oldest_open_us: number | null;
  /** Time that the pass took, ms. */
  readonly took_ms: number;
}

const SETTLE_FLOOR_MS = 10_000;
/** A source or a request that is slower than this does not hold up a verdict for longer. */
const PATIENCE_MS = 120_000;

const OPEN = REQUEST_STATUSES.indexOf("open");

/** What the live loop needs of a report. */
export function livePass(range: PassRange, input: DiagnosisInput, report: Report, took_ms: number): LivePass {
  const sigma_ms = input.clock.uncertainty_ms ?? 0;
  const slowest = report.data.sources.reduce((most, s) => Math.max(most, (s.window_ms ?? 0) + (s.lag_ms ?? 0)), 0);
  const { n, status, e2e_ms, sent_us } = input.requests;
  let longest_ms = 0;
  let oldest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < n; i++) {
    if (status[i] === OPEN) oldest = Math.min(oldest, sent_us[i]!);
    else if (e2e_ms[i]! > longest_ms) longest_ms = e2e_ms[i]!;
  }
  return {
    ...range,
    episodes: report.episodes,
    spikes: report.spikes,
    settle_ms: Math.max(SETTLE_FLOOR_MS, Math.min(PATIENCE_MS, slowest + 2 * sigma_ms)),
    longest_ms: Math.min(PATIENCE_MS, longest_ms),
    oldest_open_us: oldest > range.to_us - PATIENCE_MS * 1000 && Number.isFinite(oldest) ? oldest : null,
    took_ms,
  };
}

/** A pass over a range that holds nothing. */
export const emptyPass = (range: PassRange, took_ms: number): LivePass => ({
  ...range,
  episodes: [],
  spikes: [],
  settle_ms: SETTLE_FLOOR_MS,
  longest_ms: 0,
  oldest_open_us: null,
  took_ms,
});
