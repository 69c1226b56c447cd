import type { DecisionTable, DiagnosisInput } from "../../schemas/index.js";
import { asOf } from "../core/interval-series.js";
import { predictRow } from "../core/least-squares.js";
import { median } from "../core/quantile.js";
import { type StepFunction, stepFunction, sumOfBoxes } from "../core/step-function.js";
import { conditionalTpot } from "./baselines.js";
import { changesOf } from "./changes.js";
import { type Detection, detect } from "./detector.js";
import type { GroupContext } from "./episode-context.js";
import type { RunningSteps } from "./gauge-split.js";
import { type GroupRequests, groupRequests } from "./group-requests.js";
import { excludedClasses } from "./measured.js";
import { naturalLoad } from "./natural-load.js";
import { usualParts } from "./phases.js";
import type { ServerGroup } from "./server-groups.js";
import type { TelemetryView } from "./telemetry-view.js";
import { traceLoad } from "./trace-load.js";
import { traceCoverage, WHOLE_TRACE } from "./warnings.js";

/** Marks after which a pause is no riddle. */
const RESTARTS: ReadonlySet<string> = new Set(["restart", "oom_kill", "model_load", "lora_load"]);

/** Time that each prompt's own tokens take to be computed, ms; 0 where its size is unknown, null where no model could be fitted. */
const prefillWork = (q: GroupRequests, detection: Detection): Float64Array | null => {
  const attention = q.uncached.map((u, i) => u * (q.input[i]! - u) + (u * (u + 1)) / 2);
  const b = detection.fits.get("ttft")!.baseline.coefficients;
  if (b === null || b.length < 2 || !(b[1]! > 0 || (b[2] ?? 0) > 0)) return null;
  const features = [q.uncached, attention].slice(0, b.length - 1);
  const work = new Float64Array(q.n);
  for (let i = 0; i < q.n; i++) {
    const ms = predictRow(b.subarray(1), features, i);
    work[i] = Number.isFinite(ms) ? ms : 0;
  }
  return work;
};

/** When each prompt's own tokens should have begun to be computed, ending at its first token. */
const prefillStart = (q: GroupRequests, work: Float64Array): Float64Array =>
  q.first.map((first, i) => Math.max(q.arrival[i]!, first - work[i]! * 1000));

/** A hit ratio speaks for this long after its reading, µs. */
const HIT_RATIO_US = 60e6;

/** Share of prompt tokens that the prefix cache held, by the server's own counters. */
const hitRatioOf = (group: ServerGroup, view: TelemetryView): ((t: number) => number) => {
  const series = group.servers.map((t) => view.ratio(t, "prefix_hits_total", "prefix_queries_total")).filter((s) => s.n > 0);
  return (t) => {
    let sum = 0;
    let n = 0;
    for (const s of series) {
      const ratio = asOf(s, t, HIT_RATIO_US);
      if (!Number.isFinite(ratio)) continue;
      sum += Math.min(1, ratio);
      n++;
    }
    return n > 0 ? sum / n : Number.NaN;
  };
};

/** What an undisturbed request takes, ms. */
const usualDuration = (detection: Detection): number => {
  const { expected } = detection.metrics.find((m) => m.metric === "e2e")!;
  return median(Float64Array.from(detection.fitRows, (i) => expected[i]!));
};

const runningSum = (values: Float64Array): Float64Array => {
  const out = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) out[i + 1] = out[i]! + (Number.isFinite(values[i]!) ? values[i]! : 0);
  return out;
};

/** At most one prefill runs at a time. */
const atMostOne = (f: StepFunction): StepFunction =>
  stepFunction(
    f.at,
    f.value.map((v) => Math.min(1, v)),
  );

/** Everything that is known of one server before incidents are looked at. */
export const groupContext = (
  input: DiagnosisInput,
  group: ServerGroup,
  view: TelemetryView,
  table: DecisionTable,
  lastSeen_us: number,
): GroupContext => {
  const q = groupRequests(input.requests, group.rows, lastSeen_us, hitRatioOf(group, view));
  const detection = detect(q, input.slo_ms, input.baseline);
  const load = traceLoad(q);
  const work = prefillWork(q, detection);
  const changes = changesOf(input, group);
  const share = traceCoverage({ group, q, view });
  const whole = !(share < WHOLE_TRACE);
  const prefillFrom = work === null || !whole ? null : prefillStart(q, work);
  return {
    traceShare: whole ? 1 : share,
    group,
    q,
    all: input.requests,
    load,
    detection,
    view,
    table,
    clockSigma_us: (input.clock.uncertainty_ms ?? 0) * 1000,
    manifest: input.run.manifest,
    prefillFrom,
    prefillBusy: prefillFrom === null ? null : atMostOne(sumOfBoxes(prefillFrom, q.first, null)),
    natural: work === null || !whole ? null : naturalLoad(q, work, usualDuration(detection)),
    arrivedTokens: runningSum(q.uncached),
    usualParts: usualParts(q, detection.baseRows),
    excluded: excludedClasses(group, q),
    stepModel: !whole ? null : (conditionalTpot(q, load, detection.fitRows)?.expected ?? null),
    changes,
    restarts: changes.filter((c) => RESTARTS.has(c.kind)).map((c) => c.ts_us),
  };
};

/** What the split of pending requests needs to know of prefills; null where they could not be predicted. */
export const runningSteps = (ctx: GroupContext): RunningSteps | null =>
  ctx.prefillFrom === null ? null : { q: ctx.q, from: ctx.prefillFrom };
