import { DateTime, IANAZone } from "luxon";
import { AppError } from "../../schemas/error-codes.js";
import { parseIso } from "./iso-time.js";

const LOCAL_FORMATS = [
  "yyyy-MM-dd'T'HH:mm:ss.u",
  "yyyy-MM-dd'T'HH:mm:ss",
  "yyyy-MM-dd'T'HH:mm",
  "yyyy-MM-dd HH:mm:ss.u",
  "yyyy-MM-dd HH:mm:ss",
  "yyyy-MM-dd HH:mm",
  "yyyy-MM-dd",
];
const CLOCK_FORMATS = ["HH:mm:ss", "HH:mm"];

/**
 * Reads a point in time that a person typed: ISO 8601 with a zone, a local date and time, `HH:MM` (the latest such time before now),
 * Unix seconds with a decimal point or 10 digits, or `now`. `zone` is an IANA name. Gives integer µs; throws TIME_INVALID.
 */
export function parseTime(text: string, options: { nowUs: number; zone: string }): number {
  const trimmed = text.trim();
  if (trimmed === "now") return options.nowUs;
  if (/^\d{10}(\.\d{1,6})?$/.test(trimmed)) return Math.round(Number(trimmed) * 1e6);
  const iso = parseIso(trimmed);
  if (iso !== null) return iso;
  const zone = IANAZone.isValidZone(options.zone) ? options.zone : "utc";
  for (const format of LOCAL_FORMATS) {
    const t = DateTime.fromFormat(trimmed, format, { zone });
    // Luxon moves a time inside the spring gap; a time that the clock never showed is refused instead.
    if (t.isValid)
      return t.toFormat(format) === trimmed || format.includes(".u")
        ? t.toMillis() * 1000
        : invalid(trimmed, "that local time does not exist there");
  }
  for (const format of CLOCK_FORMATS) {
    const t = DateTime.fromFormat(trimmed, format, { zone });
    if (!t.isValid) continue;
    const now = DateTime.fromMillis(options.nowUs / 1000, { zone });
    const today = now.set({ hour: t.hour, minute: t.minute, second: t.second, millisecond: 0 });
    return (today > now ? today.minus({ days: 1 }) : today).toMillis() * 1000;
  }
  return invalid(trimmed, "it is no time that whyslow reads");
}

function invalid(text: string, why: string): never {
  throw new AppError("TIME_INVALID", `time '${text}': ${why}`, {
    mend: "use 2026-09-03T09:07:00Z, '2026-09-03 09:07' (local), 09:07 or now",
  });
}

/** The machine's zone as an IANA name. */
export const localZone = (): string => DateTime.local().zoneName ?? "utc";

/** Offset of the zone from UTC at that instant, minutes: `local = utc + offset`. Null for a zone that there is none of. */
export function zoneOffsetMinutes(us: number, zone: string): number | null {
  return IANAZone.isValidZone(zone) ? DateTime.fromMillis(us / 1000, { zone }).offset : null;
}

export const isZone = (zone: string): boolean => IANAZone.isValidZone(zone);
