/** A pause between arrivals counts as idle beyond this, and beyond so many usual intervals. */
const MIN_IDLE_US = 30e6;
const IDLE_INTERVALS = 50;

/**
 * Time between the first and the last arrival in which there was traffic, µs. Long pauses are cut to the length of a usual one, so that a
 * night without requests, or one stamp of another year, does not make every busy minute look like a surge. `arrival_us` ascends.
 */
export function activeSpanUs(arrival_us: Float64Array): number {
  const n = arrival_us.length;
  if (n < 2) return 0;
  const gaps = new Float64Array(n - 1);
  for (let i = 1; i < n; i++) gaps[i - 1] = arrival_us[i]! - arrival_us[i - 1]!;
  const usual = Float64Array.from(gaps).sort()[(n - 1) >> 1]!;
  const limit = Math.max(MIN_IDLE_US, IDLE_INTERVALS * usual);
  let active = 0;
  for (const gap of gaps) active += Math.min(gap, limit);
  return active;
}
