/** Integer µs since the Unix epoch as ISO 8601 UTC with microseconds: `2026-09-03T09:07:55.123456Z`. */
export function formatIso(us: number): string {
  const ms = Math.floor(us / 1000);
  const micros = Math.round(us - ms * 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}Z`;
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})$/i;

/** Reads an ISO 8601 time that carries its zone (`Z` or an offset), to the microsecond; null when it is not one. */
export function parseIso(text: string): number | null {
  const m = ISO.exec(text.trim());
  if (!m) return null;
  const [, year, month, day, hour, minute, second = "0", fraction = "", zone = "Z"] = m;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const back = new Date(ms);
  // Date.UTC rolls 31 February over; a time that does not exist is an error, not another time.
  if (back.getUTCMonth() + 1 !== Number(month) || back.getUTCDate() !== Number(day) || back.getUTCHours() !== Number(hour)) return null;
  const micros = Number(fraction.padEnd(6, "0").slice(0, 6));
  return (ms - zoneMinutes(zone) * 60_000) * 1000 + micros;
}

function zoneMinutes(zone: string): number {
  if (zone.toUpperCase() === "Z") return 0;
  const sign = zone.startsWith("-") ? -1 : 1;
  const digits = zone.slice(1).replace(":", "");
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2)));
}
