import { zoneOffsetMinutes } from "./civil-time.js";

const MINUTE_US = 60e6;
const DAY_US = 86_400e6;
/** Rows of one reading are a little out of order; an hour that is shown twice is far more than that. */
const OUT_OF_ORDER_US = 60e6;

export interface LocalClock {
  /**
   * UTC of a local time, both µs (`local` as if it were UTC). Times of the hour that a change from summer time shows twice are taken
   * in the order of the calls: the first pass, then, when they jump back, the second. Null for a time that the clock never showed.
   */
  toUtc(localUs: number): number | null;
}

/** Reads the rows of a log that was written in local time, in the order of the log. `zone` is an IANA name. */
export function createLocalClock(zone: string): LocalClock {
  const offsets = new Map<number, number>();
  let last = -Infinity;

  /** Offset in µs, remembered by quarter of an hour: no zone changes within one. */
  const offsetAt = (utcUs: number): number => {
    const slot = Math.floor(utcUs / (15 * MINUTE_US));
    let offset = offsets.get(slot);
    if (offset === undefined) {
      offset = (zoneOffsetMinutes(slot * 15 * MINUTE_US, zone) ?? 0) * MINUTE_US;
      if (offsets.size > 4096) offsets.clear();
      offsets.set(slot, offset);
    }
    return offset;
  };

  return {
    toUtc(localUs) {
      const before = offsetAt(localUs - DAY_US);
      const after = offsetAt(localUs + DAY_US);
      const candidates = [...new Set([localUs - before, localUs - after])]
        .filter((utc) => offsetAt(utc) === localUs - utc)
        .sort((a, b) => a - b);
      const utc = candidates.find((candidate) => candidate >= last - OUT_OF_ORDER_US) ?? candidates.at(-1);
      if (utc === undefined) return null;
      last = utc;
      return utc;
    },
  };
}
