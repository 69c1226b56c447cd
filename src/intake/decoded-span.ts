/** What an attribute may hold after decoding; 64-bit integers beyond 2^53 stay decimal strings. */
export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** One span as both OTLP encodings give it, with nothing in it but what the allow-lists name. */
export interface DecodedSpan {
  /** 32 lowercase hex digits. */
  readonly trace_id: string;
  /** 16 lowercase hex digits. */
  readonly span_id: string;
  readonly name: string;
  /** OTLP SpanKind: 2 server, 3 client. */
  readonly kind: number;
  /** Integer µs, rounded down from ns. */
  readonly start_us: number;
  readonly end_us: number;
  /** OTLP StatusCode: 2 error. */
  readonly status: number;
  readonly attributes: Attributes;
  readonly resource: Attributes;
}

/** Why a span was refused by a decoder. */
export type SpanFault = "trace_id" | "span_id" | "time" | "end_before_start" | "syntax";

export interface DecodedExport {
  readonly spans: readonly DecodedSpan[];
  /** Spans refused, by reason. */
  readonly rejected: Readonly<Partial<Record<SpanFault, number>>>;
}

/** The payload is no ExportTraceServiceRequest at all: a client error that a retry cannot mend. */
export class OtlpSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OtlpSyntaxError";
  }
}

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
const ALL_ZERO = /^0+$/;

/** The rule of the OTLP specification for a whole span; null when it is sound. Ids are expected in lowercase hex. */
export function spanFault(span: Pick<DecodedSpan, "trace_id" | "span_id" | "start_us" | "end_us">): SpanFault | null {
  if (!TRACE_ID.test(span.trace_id) || ALL_ZERO.test(span.trace_id)) return "trace_id";
  if (!SPAN_ID.test(span.span_id) || ALL_ZERO.test(span.span_id)) return "span_id";
  if (!Number.isFinite(span.start_us) || !Number.isFinite(span.end_us)) return "time";
  if (span.end_us < span.start_us) return "end_before_start";
  return null;
}
