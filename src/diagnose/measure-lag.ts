import { columnSpec, type Track } from "../../schemas/index.js";
import { integralOver, type StepFunction, stepFunction } from "../core/step-function.js";
import type { GroupContext } from "./episode-context.js";
import { lagKey, type MeasuredLag } from "./telemetry-view.js";

/** Lags that are tried, µs: a stamp may be late, and clocks may differ a little. */
const FROM_US = -2e6;
const TO_US = 5e6;
const STEP_US = 100e3;
/** A lag is believed at this correlation, if none apart from its peak comes near, and if it is a good part of a reading's window. */
const MIN_RHO = 0.5;
const MIN_LEAD = 0.1;
const MIN_WINDOWS = 0.25;
/** A load that hardly varies tells nothing. */
const MIN_VARIATION = 0.1;
const MIN_READINGS = 30;
const MOST_READINGS = 600;
/** Above this nothing surer is looked for, and so many GPUs of a server speak for its source. */
const SURE_RHO = 0.8;
const MOST_GPUS = 2;

/** Columns that follow what the GPU does, the ones that follow prompts first. */
const COLUMNS = ["tensor_active_ratio", "power_w", "power_instant_w", "gr_engine_active_ratio", "sm_active_ratio", "gpu_util_ratio"];

const correlation = (x: Float64Array, y: Float64Array): number => {
  const n = x.length;
  let [sx, sy, xx, yy, xy] = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    sx += x[i]!;
    sy += y[i]!;
    xx += x[i]! * x[i]!;
    yy += y[i]! * y[i]!;
    xy += x[i]! * y[i]!;
  }
  const spread = Math.sqrt(Math.max(0, xx - (sx * sx) / n) * Math.max(0, yy - (sy * sy) / n));
  return spread > 1e-12 ? (xy - (sx * sy) / n) / spread : 0;
};

const variation = (x: Float64Array): number => {
  const mean = x.reduce((a, b) => a + b, 0) / x.length;
  return Math.sqrt(x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length) / Math.max(1e-9, Math.abs(mean));
};

/** The lag at which readings over windows of `window_us` follow an activity best; null where it does not stand out. */
export const lagOf = (ts: Float64Array, values: Float64Array, window_us: number, activity: StepFunction): MeasuredLag | null => {
  const rows: number[] = [];
  const [start, end] = [activity.at[0] ?? 0, activity.at[activity.at.length - 1] ?? 0];
  for (let i = 0; i < ts.length; i++) if (Number.isFinite(values[i]!) && ts[i]! - TO_US > start && ts[i]! - FROM_US < end) rows.push(i);
  if (rows.length < MIN_READINGS) return null;
  const stride = Math.ceil(rows.length / MOST_READINGS);
  const used = rows.filter((_, k) => k % stride === 0);
  const x = Float64Array.from(used, (i) => values[i]!);
  const y = new Float64Array(used.length);
  const curve: { lag: number; rho: number }[] = [];
  let steady = true;
  for (let lag = FROM_US; lag <= TO_US; lag += STEP_US) {
    for (let k = 0; k < used.length; k++) {
      const to = ts[used[k]!]! - lag;
      y[k] = integralOver(activity, to - window_us, to) / window_us;
    }
    if (lag === FROM_US) steady = variation(y) < MIN_VARIATION;
    curve.push({ lag, rho: correlation(x, y) });
  }
  if (steady) return null;
  const best = curve.reduce((a, b) => (b.rho > a.rho ? b : a));
  const apart = curve.filter((c) => Math.abs(c.lag - best.lag) > Math.max(window_us, 0.5e6)).reduce((a, c) => Math.max(a, c.rho), 0);
  return best.rho >= MIN_RHO && best.rho - apart >= MIN_LEAD ? { lag_us: best.lag, rho: best.rho } : null;
};

const presence = (f: StepFunction): StepFunction =>
  stepFunction(
    f.at,
    f.value.map((v) => (v > 0 ? 1 : 0)),
  );

/** The best measured lag of one GPU's track against the prompts and the requests of the trace. */
const trackLag = (ctx: GroupContext, track: Track): MeasuredLag | null => {
  const refresh = track.source.window_ms === null ? ctx.view.refresh(track).refresh_us : track.source.window_ms * 1000;
  if (!(refresh > 0)) return null;
  const activities = [...(ctx.prefillBusy === null ? [] : [ctx.prefillBusy]), presence(ctx.load.inFlight)];
  let best: MeasuredLag | null = null;
  for (const column of COLUMNS) {
    const values = track.columns[column];
    const averaged = columnSpec("gpu", column)?.window;
    const window = averaged === "interval" ? refresh : typeof averaged === "number" ? averaged * 1000 : Number.NaN;
    if (values === undefined || !(window > 0)) continue;
    for (const activity of activities) {
      const found = lagOf(track.ts_us, values, window, activity);
      if (found !== null && (best === null || found.rho > best.rho)) best = found;
    }
    if (best !== null && best.rho >= SURE_RHO) break;
  }
  return best !== null && Math.abs(best.lag_us) >= MIN_WINDOWS * refresh ? best : null;
};

/** Lags of the GPU sources that do not state theirs, by source and node: the surest of their tracks speaks for all. */
export const measureLags = (contexts: readonly GroupContext[]): Map<string, MeasuredLag> => {
  const out = new Map<string, MeasuredLag>();
  for (const ctx of contexts) {
    if (ctx.traceShare < 1 || ctx.q.n === 0) continue;
    for (const tracks of ctx.group.gpus.slice(0, MOST_GPUS))
      for (const track of tracks) {
        if (track.source.lag_ms !== null) continue;
        const found = trackLag(ctx, track);
        const key = lagKey(track);
        if (found !== null && found.rho > (out.get(key)?.rho ?? 0)) out.set(key, found);
      }
  }
  return out;
};
