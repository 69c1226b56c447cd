import { ramp } from "../../core/ramp.js";
import { type Fact, rampOf } from "../episode-context.js";
import { readSeries } from "../reading.js";
import { factOf } from "./fact-of.js";

/**
 * One engine of a data- or expert-parallel group was fed prompts far beyond its usual and the others' share: all step together, so that its
 * prefill holds the others up.
 */
export const remotePrefill: Fact = (ctx, row) => {
  const rates = ctx.group.servers.flatMap((t) => {
    const sourced = ctx.view.best([t], "prompt_tokens_total", "rate");
    return sourced === null ? [] : (readSeries(ctx, sourced, { width: 1000 }) ?? []);
  });
  if (rates.length < 2) return null;
  rates.sort((a, b) => b.value - a.value);
  const [top, ...others] = rates;
  const mean = others.reduce((a, r) => a + r.value, 0) / others.length;
  if (!(top!.usual > 0)) return null;
  const rise = top!.value / top!.usual;
  const strength = Math.min(ramp(rise, ...rampOf(row, "rise")), ramp(top!.value / Math.max(mean, 1), ...rampOf(row, "apart")));
  return factOf(row.name, top!, strength, { value: rise, expected: 1, contrast: Number.NaN });
};
