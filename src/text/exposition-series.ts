export interface ParsedSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Index of the first character behind the series. */
  readonly end: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN = 123;
const CLOSE = 125;
const EQUALS = 61;

export const isBlank = (c: number): boolean => c === 32 || c === 9;

const isNameStart = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 58;
const isNamePart = (c: number): boolean => isNameStart(c) || (c >= 48 && c <= 57);

function skipBlanks(text: string, at: number, end: number): number {
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function nameEnd(text: string, at: number, end: number): number {
  if (at >= end || !isNameStart(text.charCodeAt(at))) return at;
  while (at < end && isNamePart(text.charCodeAt(at))) at++;
  return at;
}

/** Only `\\`, `\"` and `\n` are escapes; exporters that forget to escape leave other backslashes, which stay as they are. */
const unescapeValue = (raw: string): string => raw.replace(/\\([\\"n])/g, (_, c: string) => (c === "n" ? "\n" : c));

/** Index of the closing quote of the string that opens at `at`, or -1. */
function closingQuote(text: string, at: number, end: number): number {
  for (let i = at + 1; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === BACKSLASH) i++;
    else if (c === QUOTE) return i;
  }
  return -1;
}

function quoted(text: string, open: number, close: number): string {
  const raw = text.slice(open + 1, close);
  return raw.includes("\\") ? unescapeValue(raw) : raw;
}

export type SeriesFault = "syntax" | "too_many_labels";

/**
 * Reads `name{label="value",…}` from `at`: names may be quoted (`{"http.requests",…}`), blanks may stand around every
 * token and a comma may stand before the closing brace. An unescaped quote inside of a value is a syntax fault.
 */
export function parseSeries(text: string, at: number, end: number, maxLabels: number): ParsedSeries | SeriesFault {
  const afterName = nameEnd(text, at, end);
  let name = text.slice(at, afterName);
  const brace = skipBlanks(text, afterName, end);
  if (brace >= end || text.charCodeAt(brace) !== OPEN) return name === "" ? "syntax" : { name, labels: {}, end: afterName };

  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  let count = 0;
  let i = brace + 1;
  for (;;) {
    i = skipBlanks(text, i, end);
    if (i >= end) return "syntax";
    if (text.charCodeAt(i) === CLOSE) return name === "" ? "syntax" : { name, labels, end: i + 1 };
    let key: string;
    const isQuoted = text.charCodeAt(i) === QUOTE;
    if (isQuoted) {
      const close = closingQuote(text, i, end);
      if (close < 0) return "syntax";
      key = quoted(text, i, close);
      i = close + 1;
    } else {
      const stop = nameEnd(text, i, end);
      key = text.slice(i, stop);
      if (key === "" || key.includes(":")) return "syntax";
      i = stop;
    }
    i = skipBlanks(text, i, end);
    if (i < end && text.charCodeAt(i) === EQUALS) {
      i = skipBlanks(text, i + 1, end);
      if (i >= end || text.charCodeAt(i) !== QUOTE) return "syntax";
      const close = closingQuote(text, i, end);
      if (close < 0 || key in labels) return "syntax";
      if (++count > maxLabels) return "too_many_labels";
      labels[key] = quoted(text, i, close);
      i = close + 1;
    } else if (isQuoted && name === "") name = key;
    else return "syntax";
    i = skipBlanks(text, i, end);
    if (i >= end) return "syntax";
    const c = text.charCodeAt(i);
    if (c === COMMA) i++;
    else if (c !== CLOSE) return "syntax";
  }
}

/** Where the series text of a line most likely ends: behind the last brace, or behind a name without labels. */
export function seriesLimit(text: string, at: number, end: number): number {
  let i = at;
  while (i < end && text.charCodeAt(i) !== OPEN && !isBlank(text.charCodeAt(i))) i++;
  let brace = i;
  while (brace < end && isBlank(text.charCodeAt(brace))) brace++;
  if (brace >= end || text.charCodeAt(brace) !== OPEN) return i;
  let close = end - 1;
  while (close > brace && text.charCodeAt(close) !== CLOSE) close--;
  return close + 1;
}
