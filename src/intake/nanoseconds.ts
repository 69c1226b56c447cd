const DIGITS = /^\d{1,20}$/;

/**
 * Nanoseconds since the epoch as integer microseconds, rounded down; null when it is no such number.
 * Strings and bigints are exact. A number beyond 2^53 was rounded before it came here (by up to 128 ns).
 */
export function nsToUs(ns: unknown): number | null {
  if (typeof ns === "string") {
    if (!DIGITS.test(ns)) return null;
    return ns.length <= 3 ? 0 : Number(ns.slice(0, -3));
  }
  if (typeof ns === "bigint") return ns < 0n ? null : Number(ns / 1000n);
  if (typeof ns === "number") return Number.isFinite(ns) && ns >= 0 ? Math.floor(ns / 1000) : null;
  return null;
}

/** The halves of a little-endian fixed64 of nanoseconds as microseconds, rounded down: exact without bigint up to the year 2255. */
export function fixed64NsToUs(low: number, high: number): number {
  // 2^32 = 4294967 * 1000 + 296
  return high * 4294967 + Math.floor((high * 296 + low) / 1000);
}

/** Seconds since the epoch (a double, exact to about 0.2 µs today) as integer microseconds; null when it is no such number. */
export function secondsToUs(seconds: unknown): number | null {
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0) return null;
  // The whole seconds apart: the product of all would be rounded once more.
  const whole = Math.floor(seconds);
  return whole * 1e6 + Math.round((seconds - whole) * 1e6);
}

/** Before 2000-01-01 no inference server ran: such a stamp comes from a clock that counts from the machine's start. */
export const EARLIEST_EPOCH_US = 946_684_800_000_000;
/** 2100-01-01. */
export const LATEST_EPOCH_US = 4_102_444_800_000_000;

/** True when the stamp can be a wall clock time. */
export const isAnchored = (us: number): boolean => us >= EARLIEST_EPOCH_US && us <= LATEST_EPOCH_US;
