import type { Clock } from "../../schemas/collector.js";

/** Wall minus monotonic moving by more than this between two readings is a step, not a slew. */
const STEP_US = 50_000;

export interface ClockStep {
  /** Wall time after the step. */
  readonly ts_us: number;
  /** How far the wall clock moved against the monotonic one; negative = back. */
  readonly delta_us: number;
  /** The epoch that begins. */
  readonly epoch: number;
}

export interface SystemClockOptions {
  readonly onStep?: (step: ClockStep) => void;
  /** The wall clock in whole milliseconds, as the system gives it. */
  readonly wallMs?: () => number;
  /** The monotonic clock in milliseconds, with fractions. */
  readonly monoMs?: () => number;
}

/**
 * The node's clock. Between the ticks of the millisecond wall clock it goes on with the monotonic one, so that stamps have
 * microseconds and ascend; it follows a slewed clock, and begins a new epoch when the clock was stepped or the machine slept.
 */
export function createSystemClock(options: SystemClockOptions = {}): Clock {
  const wallMs = options.wallMs ?? Date.now;
  const monoMs = options.monoMs ?? ((): number => performance.now());
  let offsetUs: number | null = null;
  let epoch = 0;

  const read = (): number => {
    const monoUs = monoMs() * 1000;
    const floorUs = wallMs() * 1000;
    if (offsetUs === null) offsetUs = floorUs - monoUs;
    const predicted = monoUs + offsetUs;
    // The true wall time lies in [floor, floor + 1 ms): a prediction outside is moved to the nearer end.
    const correction = predicted < floorUs ? floorUs - predicted : predicted >= floorUs + 1000 ? floorUs + 999 - predicted : 0;
    if (Math.abs(correction) > STEP_US) {
      epoch++;
      offsetUs = floorUs - monoUs;
      options.onStep?.({ ts_us: floorUs, delta_us: Math.round(correction), epoch });
      return floorUs;
    }
    offsetUs += correction;
    return Math.floor(monoUs + offsetUs);
  };
  read();
  return {
    wallUs: read,
    monoUs: () => Math.floor(monoMs() * 1000),
    epoch() {
      read();
      return epoch;
    },
  };
}
