const POWERS = Float64Array.from({ length: 16 }, (_, i) => 10 ** i);

/** Go's float grammar without hexadecimal and underscores; what JavaScript's `Number` accepts beyond it is refused. */
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const INFINITE = /^[+-]?inf(inity)?$/i;

/**
 * Reads the number in `text[start, end)`. Up to 15 significant digits with a short fraction are exact in one division
 * of two exact doubles; everything else goes through the language's own conversion. Null = not a number at all.
 */
export function parseExpositionNumber(text: string, start: number, end: number): number | null {
  let at = start;
  let negative = false;
  const sign = text.charCodeAt(at);
  if (sign === 45 || sign === 43) {
    negative = sign === 45;
    at++;
  }
  let mantissa = 0;
  let fraction = 0;
  let dot = false;
  const first = at;
  for (; at < end; at++) {
    const c = text.charCodeAt(at);
    if (c >= 48 && c <= 57) {
      mantissa = mantissa * 10 + (c - 48);
      if (dot) fraction++;
    } else if (c === 46 && !dot) dot = true;
    else break;
  }
  const digits = at - first - (dot ? 1 : 0);
  if (at === end && digits > 0 && digits <= 15) {
    const value = fraction === 0 ? mantissa : mantissa / POWERS[fraction]!;
    return negative ? -value : value;
  }
  return slowNumber(text.slice(start, end));
}

function slowNumber(token: string): number | null {
  if (DECIMAL.test(token)) return Number(token);
  if (/^[+-]?nan$/i.test(token)) return Number.NaN;
  if (INFINITE.test(token)) return token.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return null;
}

export type TimestampUnit = "ms" | "s" | "auto";

/** Integers below this are seconds in `auto`: as milliseconds they would lie before March 1973. */
const AUTO_SECONDS_BELOW = 1e11;

/**
 * Reads the timestamp in `text[start, end)` as integer microseconds. Integer and fraction are read apart, so that no
 * microsecond is lost to a double of seconds. `ms` is text format 0.0.4, `s` OpenMetrics; a fraction always means
 * seconds; `auto` tells integers apart by their magnitude. NaN = not a timestamp.
 */
export function parseTimestampUs(text: string, start: number, end: number, unit: TimestampUnit): number {
  let at = start;
  const negative = text.charCodeAt(at) === 45;
  if (negative || text.charCodeAt(at) === 43) at++;
  let whole = 0;
  const first = at;
  for (; at < end; at++) {
    const c = text.charCodeAt(at);
    if (c < 48 || c > 57) break;
    whole = whole * 10 + (c - 48);
  }
  if (at === first) return Number.NaN;
  let us: number;
  if (at === end) us = unit === "s" || (unit === "auto" && whole < AUTO_SECONDS_BELOW) ? whole * 1e6 : whole * 1e3;
  else if (text.charCodeAt(at) === 46) {
    let micros = 0;
    let places = 0;
    let roundUp = false;
    for (at++; at < end; at++, places++) {
      const c = text.charCodeAt(at);
      if (c < 48 || c > 57) return exponentUs(text.slice(start, end));
      if (places < 6) micros = micros * 10 + (c - 48);
      else if (places === 6) roundUp = c >= 53;
    }
    for (; places < 6; places++) micros *= 10;
    us = whole * 1e6 + micros + (roundUp ? 1 : 0);
  } else return exponentUs(text.slice(start, end));
  if (!Number.isSafeInteger(us)) return Number.NaN;
  return negative ? -us : us;
}

/** Python writes large floats as `1.788404001007e+09`. */
function exponentUs(token: string): number {
  if (!DECIMAL.test(token)) return Number.NaN;
  const value = Number(token);
  const us = Math.round(Math.abs(value) < AUTO_SECONDS_BELOW ? value * 1e6 : value * 1e3);
  return Number.isSafeInteger(us) ? us : Number.NaN;
}
