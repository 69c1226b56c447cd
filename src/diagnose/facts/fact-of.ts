import { clamp } from "../../core/ramp.js";
import type { FactReading } from "../episode-context.js";
import { contrastOf, type Reading } from "../reading.js";

/** Differences below this are no contrast, however quiet the run was. */
const CONTRAST_FLOOR = 0.02;

/** A fact's reading from the telemetry reading that it rests on; `extra` replaces what the fact computes otherwise. */
export const factOf = (fact: string, r: Reading, strength: number, extra: Partial<FactReading> = {}): FactReading => ({
  fact,
  strength: clamp(strength, 0, 1),
  value: r.value,
  expected: r.usual,
  quality: r.quality,
  source: r.source,
  contrast: contrastOf(r, CONTRAST_FLOOR),
  dose: Number.NaN,
  ...extra,
});
