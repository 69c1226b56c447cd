import type { Phase, Track } from "../../schemas/index.js";
import { asOf, type IntervalSeries } from "../core/interval-series.js";
import { median } from "../core/quantile.js";
import { stepFunction } from "../core/step-function.js";
import type { Incident } from "./incidents.js";
import type { PhaseShares } from "./phase-shares.js";
import type { ServerGroup } from "./server-groups.js";
import type { TelemetryView } from "./telemetry-view.js";

/** A server with running requests whose token counters stand still this long hangs, µs: longer than any step. */
const HANG_US = 5e6;
/** A windowed mean of a latency histogram is slow at this many times its usual and this much above it. */
const SLOW_RATIO = 2;
const SLOW_MS: Readonly<Record<string, number>> = { ttft: 100, e2e: 250 };
/** Slow windows closer than this many of their own lengths belong together. */
const MERGE_WINDOWS = 2;
/** Requests in a window before its mean says anything, and slow windows (or one threefold) before an episode is one. */
const MIN_COUNT = 2;
const MIN_WINDOWS = 2;
const STRONG_RATIO = 3;

const boxIncident = (from: number, to: number, extra: Pick<Incident, "metric" | "excess_ms" | "given">): Incident => {
  const at = Float64Array.from([from, to]);
  const one = stepFunction(at, Float64Array.from([1, 0]));
  return { rows: [], losses: [], from, to, weight: one, support: one, ...extra };
};

/** Stretches in which requests ran and no token was made. */
const hangs = (track: Track, view: TelemetryView): Incident[] => {
  const running = view.level(track, "running");
  const counters = ["generation_tokens_total", "prompt_tokens_total"].map((c) => view.rate(track, c)).filter((s) => s.n > 0);
  const lead = counters[0];
  if (lead === undefined || running.n === 0) return [];
  const out: Incident[] = [];
  let from = Number.NaN;
  let to = Number.NaN;
  const close = () => {
    if (to - from >= HANG_US)
      out.push(
        boxIncident(from, to, { metric: "itl", excess_ms: (to - from) / 1000, given: { basis: "telemetry", phases: { stall: 1 } } }),
      );
    from = Number.NaN;
  };
  for (let i = 0; i < lead.n; i++) {
    const middle = (lead.from[i]! + lead.to[i]!) / 2;
    const still = counters.every((s) => !(asOf(s, middle, 0) > 0));
    const busy = asOf(running, middle, HANG_US) > 0;
    if (still && busy && Number.isFinite(asOf(lead, middle, 0))) {
      if (Number.isNaN(from) || lead.from[i]! > to + 1) {
        close();
        from = lead.from[i]!;
      }
      to = lead.to[i]!;
    } else close();
  }
  close();
  return out;
};

const meanIn = (view: TelemetryView, track: Track, name: string): IntervalSeries =>
  view.ratio(track, `${name}_s_sum_total`, `${name}_count_total`);

/** Where the time of a slow window went, from the sums of the server's own phase histograms. */
const phasesIn = (view: TelemetryView, track: Track, from: number, to: number): PhaseShares => {
  const out: Partial<Record<Phase, number>> = {};
  let total = 0;
  for (const phase of ["queue", "prefill", "decode"] as const) {
    const series = meanIn(view, track, phase);
    const usual = median(series.value);
    let excess = 0;
    for (let i = 0; i < series.n; i++)
      if (series.from[i]! < to && series.to[i]! > from) excess += Math.max(0, series.value[i]! - (phase === "queue" ? 0 : usual));
    if (excess > 0) out[phase] = excess;
    total += excess;
  }
  if (!(total > 0)) return { unattributed: 1 };
  for (const phase of Object.keys(out) as Phase[]) out[phase] = out[phase]! / total;
  return out;
};

/** Slow windows of a latency histogram's mean, joined. */
const slowWindows = (track: Track, view: TelemetryView, metric: "ttft" | "e2e"): Incident[] => {
  const means = meanIn(view, track, metric);
  const counts = view.rate(track, `${metric}_count_total`);
  const usual = median(means.value);
  if (!(usual > 0) || means.n < 8) return [];
  const out: Incident[] = [];
  let open: { from: number; to: number; windows: number; top: number; excess: number } | null = null;
  const close = () => {
    if (open !== null && (open.windows >= MIN_WINDOWS || open.top >= STRONG_RATIO * usual))
      out.push(
        boxIncident(open.from, open.to, {
          metric,
          excess_ms: open.excess,
          given: { basis: "histogram", phases: phasesIn(view, track, open.from, open.to) },
        }),
      );
    open = null;
  };
  for (let i = 0; i < means.n; i++) {
    const length = means.to[i]! - means.from[i]!;
    const count = (asOf(counts, means.from[i]!, 0) * length) / 1e6;
    const above = (means.value[i]! - usual) * 1000;
    if (!(means.value[i]! >= SLOW_RATIO * usual) || !(above >= SLOW_MS[metric]!) || !(count >= MIN_COUNT)) continue;
    if (open !== null && means.from[i]! > open.to + MERGE_WINDOWS * length) close();
    open ??= { from: means.from[i]!, to: means.to[i]!, windows: 0, top: 0, excess: 0 };
    open.to = means.to[i]!;
    open.windows++;
    open.top = Math.max(open.top, means.value[i]!);
    open.excess += above * count;
  }
  close();
  return out;
};

/**
 * What telemetry alone shows: a hung server always (its spans come only at the end, if ever), and slow windows of its latency histograms
 * where there are no requests at all. `covered` says whether an incident of requests already holds a moment.
 */
export const telemetryIncidents = (group: ServerGroup, view: TelemetryView, covered: (t: number) => boolean): Incident[] => {
  const out: Incident[] = [];
  for (const track of group.servers) {
    out.push(...hangs(track, view).filter((i) => !covered((i.from + i.to) / 2)));
    if (group.rows.length > 0) continue;
    const ttft = slowWindows(track, view, "ttft");
    out.push(...(ttft.length > 0 ? ttft : slowWindows(track, view, "e2e")));
  }
  return out;
};
