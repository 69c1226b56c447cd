import { parseExpositionNumber, parseTimestampUs, type TimestampUnit } from "./exposition-number.js";
import { isBlank, parseSeries, seriesLimit } from "./exposition-series.js";

/** One series of a page or file. The same text gives the same object (and `id`) for as long as the scanner keeps it. */
export interface ScannedSeries {
  readonly id: number;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type ScanReason = "syntax" | "too_many_labels" | "value" | "timestamp" | "too_long" | "too_many_series" | "truncated";

export interface ScanError {
  /** Line number, from 1. */
  readonly line: number;
  readonly reason: ScanReason;
  /** The line's beginning. */
  readonly text: string;
}

export interface ExpositionVisitor {
  /** `tsUs`: integer µs since the Unix epoch, NaN when the line has no timestamp. `value` may be NaN or infinite. */
  sample(series: ScannedSeries, value: number, tsUs: number): void;
  /** `# TYPE name type`, wherever it stands. */
  type?(name: string, type: string): void;
  /** A line that was refused; the rest of the page is not touched. */
  error?(error: ScanError): void;
}

export interface ScanOptions {
  /** What integer timestamps count: `ms` (text 0.0.4), `s` (OpenMetrics) or by magnitude. Default `auto`. */
  readonly timestamps?: TimestampUnit;
  readonly max_line_chars?: number;
  readonly max_labels?: number;
  /** Series that are kept; lines of further ones are refused. */
  readonly max_series?: number;
}

export interface ScanSummary {
  readonly lines: number;
  readonly samples: number;
  readonly errors: number;
  /** `# EOF` was seen: the text is OpenMetrics and whole. */
  readonly eof: boolean;
  /** The last line had no line feed: it may have been cut. */
  readonly unterminated: boolean;
}

class Series implements ScannedSeries {
  readonly braced: boolean;
  /** The series that followed this one last time: pages repeat their order, files sorted by family repeat the series. */
  next: Series | null = null;
  constructor(
    readonly id: number,
    readonly raw: string,
    readonly name: string,
    readonly labels: Readonly<Record<string, string>>,
  ) {
    this.braced = raw.endsWith("}");
  }
}

const SHOWN_CHARS = 120;
const CR = 13;
const HASH = 35;

/** A copy that does not keep the page alive, as a slice of it would. */
const detach = (slice: string): string => JSON.parse(JSON.stringify(slice)) as string;

/**
 * Reads Prometheus text and OpenMetrics in one pass, in chunks of any size, and never gives up on a page for one bad line.
 * Series texts are remembered between pages, so that a repeated scrape costs little more than its numbers.
 */
export class ExpositionScanner {
  readonly #unit: TimestampUnit;
  readonly #maxLine: number;
  readonly #maxLabels: number;
  readonly #maxSeries: number;
  #known = new Map<string, Series>();
  #nextId = 0;
  #last: Series | null = null;
  #carry = "";
  #skipping = false;
  #line = 0;
  #samples = 0;
  #errors = 0;
  #eof = false;

  constructor(options: ScanOptions = {}) {
    this.#unit = options.timestamps ?? "auto";
    this.#maxLine = options.max_line_chars ?? 65_536;
    this.#maxLabels = options.max_labels ?? 200;
    this.#maxSeries = options.max_series ?? 500_000;
  }

  /** Scans one whole page. `truncated`: the body was cut, so its last line is dropped when it has no line feed. */
  page(text: string, visitor: ExpositionVisitor, truncated = false): ScanSummary {
    if (this.#known.size > this.#maxSeries / 2) this.#known = new Map();
    this.push(text, visitor);
    return this.end(visitor, truncated);
  }

  /** Feeds the next piece of a text; lines may be split anywhere between pieces. */
  push(piece: string, visitor: ExpositionVisitor): void {
    const text = this.#carry === "" ? piece : this.#carry + piece;
    let at = this.#line === 0 && text.charCodeAt(0) === 0xfeff ? 1 : 0;
    for (;;) {
      const end = text.indexOf("\n", at);
      if (end < 0) break;
      this.#line++;
      if (this.#skipping) this.#skipping = false;
      else if (end - at > this.#maxLine) this.#refuse(visitor, "too_long", text, at, end);
      else this.#readLine(text, at, end, visitor);
      at = end + 1;
    }
    this.#carry = at === 0 ? text : text.slice(at);
    if (this.#carry.length > this.#maxLine) {
      if (!this.#skipping) {
        this.#line++;
        this.#refuse(visitor, "too_long", this.#carry, 0, this.#carry.length);
        this.#line--;
      }
      this.#skipping = true;
      this.#carry = "";
    }
  }

  /** Ends the text: reads the last line, or drops it when the text is known to be cut. Ready for the next text. */
  end(visitor: ExpositionVisitor, truncated = false): ScanSummary {
    const rest = this.#carry;
    const unterminated = rest !== "" || this.#skipping;
    if (unterminated) this.#line++;
    if (rest !== "") {
      if (truncated && !rest.startsWith("#")) this.#refuse(visitor, "truncated", rest, 0, rest.length);
      else this.#readLine(rest, 0, rest.length, visitor);
    }
    const summary = { lines: this.#line, samples: this.#samples, errors: this.#errors, eof: this.#eof, unterminated };
    this.#carry = "";
    this.#skipping = false;
    this.#line = this.#samples = this.#errors = 0;
    this.#eof = false;
    return summary;
  }

  #refuse(visitor: ExpositionVisitor, reason: ScanReason, text: string, at: number, end: number): void {
    this.#errors++;
    visitor.error?.({ line: this.#line, reason, text: detach(text.slice(at, Math.min(end, at + SHOWN_CHARS))) });
  }

  #readLine(text: string, start: number, lineEnd: number, visitor: ExpositionVisitor): void {
    let at = start;
    let end = lineEnd;
    if (end > at && text.charCodeAt(end - 1) === CR) end--;
    while (at < end && isBlank(text.charCodeAt(at))) at++;
    if (at >= end) return;
    if (text.charCodeAt(at) === HASH) {
      this.#readComment(text, at, end, visitor);
      return;
    }
    const fault = this.#readSample(text, at, end, visitor);
    if (fault !== null) this.#refuse(visitor, fault, text, at, end);
  }

  /** Null when the line was a sample and was handed on. */
  #readSample(text: string, at: number, end: number, visitor: ExpositionVisitor): ScanReason | null {
    let series = this.#last?.next ?? null;
    let behind: number;
    if (series?.braced === true && text.startsWith(series.raw, at)) {
      behind = at + series.raw.length;
    } else {
      const limit = seriesLimit(text, at, end);
      series = this.#known.get(text.slice(at, limit)) ?? null;
      behind = limit;
      if (series === null) {
        const found = this.#learn(text, at, limit, end);
        if (typeof found === "string") return found;
        series = found;
        behind = at + found.raw.length;
      }
    }

    let from = behind;
    while (from < end && isBlank(text.charCodeAt(from))) from++;
    let to = from;
    while (to < end && !isBlank(text.charCodeAt(to))) to++;
    const value = from === to ? null : parseExpositionNumber(text, from, to);
    if (value === null) return from === to ? "syntax" : "value";

    let tsUs = Number.NaN;
    while (to < end && isBlank(text.charCodeAt(to))) to++;
    if (to < end && text.charCodeAt(to) !== HASH) {
      from = to;
      while (to < end && !isBlank(text.charCodeAt(to))) to++;
      tsUs = parseTimestampUs(text, from, to, this.#unit);
      if (Number.isNaN(tsUs)) return "timestamp";
      while (to < end && isBlank(text.charCodeAt(to))) to++;
      // Behind value and timestamp only an exemplar may stand.
      if (to < end && text.charCodeAt(to) !== HASH) return "syntax";
    }
    if (this.#last !== null) this.#last.next = series;
    this.#last = series;
    this.#samples++;
    visitor.sample(series, value, tsUs);
    return null;
  }

  /** A series seen for the first time. Its strings are cut from a copy, so that they do not keep the page alive. */
  #learn(text: string, at: number, limit: number, end: number): Series | ScanReason {
    let raw = detach(text.slice(at, limit));
    let parsed = parseSeries(raw, 0, raw.length, this.#maxLabels);
    if (typeof parsed === "string" || parsed.end !== raw.length) {
      // The likely end was not the end: a brace stands in an exemplar, or behind the name.
      const exact = parseSeries(text, at, end, this.#maxLabels);
      if (typeof exact === "string") return exact;
      raw = detach(text.slice(at, exact.end));
      const known = this.#known.get(raw);
      if (known !== undefined) return known;
      parsed = parseSeries(raw, 0, raw.length, this.#maxLabels);
      if (typeof parsed === "string") return parsed;
    }
    if (this.#known.size >= this.#maxSeries) return "too_many_series";
    const series = new Series(this.#nextId++, raw, parsed.name, parsed.labels);
    this.#known.set(raw, series);
    return series;
  }

  #readComment(text: string, at: number, end: number, visitor: ExpositionVisitor): void {
    if (text.startsWith("# TYPE ", at)) {
      if (visitor.type === undefined) return;
      const [name, type] = text
        .slice(at + 7, end)
        .trim()
        .split(/[ \t]+/);
      if (name !== undefined && type !== undefined) visitor.type(detach(name.replace(/^"(.*)"$/, "$1")), detach(type));
    } else if (text.startsWith("# EOF", at) && text.slice(at, end).trim() === "# EOF") this.#eof = true;
  }
}

/** Scans one text with a scanner of its own. */
export function scanExposition(text: string, visitor: ExpositionVisitor, options: ScanOptions & { truncated?: boolean } = {}): ScanSummary {
  return new ExpositionScanner(options).page(text, visitor, options.truncated ?? false);
}
