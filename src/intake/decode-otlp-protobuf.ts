import { WireType } from "@bufbuild/protobuf/wire";
import { MAX_ATTRIBUTE_CHARS, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES } from "./allowed-attributes.js";
import {
  type Attributes,
  type AttributeValue,
  type DecodedExport,
  type DecodedSpan,
  OtlpSyntaxError,
  type SpanFault,
  spanFault,
} from "./decoded-span.js";
import { fixed64NsToUs } from "./nanoseconds.js";
import { fieldTag, ProtobufCursor } from "./protobuf-cursor.js";

const message = (number: number): number => fieldTag(number, WireType.LengthDelimited);
const FIRST = message(1);
const SECOND = message(2);
const SPAN = {
  trace_id: message(1),
  span_id: message(2),
  name: message(5),
  kind: fieldTag(6, WireType.Varint),
  start: fieldTag(7, WireType.Bit64),
  end: fieldTag(8, WireType.Bit64),
  attribute: message(9),
  status: message(15),
} as const;
const STATUS_CODE = fieldTag(3, WireType.Varint);
const ANY = {
  text: FIRST,
  bool: fieldTag(2, WireType.Varint),
  int: fieldTag(3, WireType.Varint),
  double: fieldTag(4, WireType.Bit64),
  array: message(5),
} as const;

/**
 * Decodes one ExportTraceServiceRequest (or TracesData: the same fields) by hand, field numbers as in `schemas/proto/opentelemetry`.
 * What the allow-lists do not name is skipped without being read. Unknown fields are skipped.
 *
 * @throws OtlpSyntaxError when the bytes are no such message.
 */
export function decodeOtlpProtobuf(bytes: Uint8Array): DecodedExport {
  const spans: DecodedSpan[] = [];
  const rejected: Partial<Record<SpanFault, number>> = {};
  const cursor = new ProtobufCursor(bytes);
  try {
    eachMessage(cursor, cursor.length, FIRST, (resourceEnd) => {
      const resource = resourceOf(cursor, resourceEnd);
      eachMessage(cursor, resourceEnd, SECOND, (scopeEnd) => {
        eachMessage(cursor, scopeEnd, SECOND, (spanEnd) => {
          const span = decodeSpan(cursor, spanEnd, resource);
          const fault = spanFault(span);
          if (fault === null) spans.push(span);
          else rejected[fault] = (rejected[fault] ?? 0) + 1;
        });
      });
    });
  } catch {
    throw new OtlpSyntaxError("the body is no OTLP protobuf message");
  }
  return { spans, rejected };
}

/** Visits the message fields of one tag; `visit` reads up to the end that it is given. */
function eachMessage(cursor: ProtobufCursor, end: number, wanted: number, visit: (end: number) => void): void {
  for (let tag = cursor.next(end); tag !== 0; tag = cursor.next(end)) {
    if (tag === wanted) visit(cursor.enter(end));
    else cursor.skip(tag, end);
  }
}

/** The resource of the spans, which may stand behind them. The cursor is where it was afterwards. */
function resourceOf(cursor: ProtobufCursor, end: number): Attributes {
  const start = cursor.position;
  const attributes: Record<string, AttributeValue> = {};
  eachMessage(cursor, end, FIRST, (resourceEnd) => {
    eachMessage(cursor, resourceEnd, FIRST, (pairEnd) => readAttribute(cursor, pairEnd, RESOURCE_ATTRIBUTES, attributes));
  });
  cursor.moveTo(start);
  return attributes;
}

function decodeSpan(cursor: ProtobufCursor, end: number, resource: Attributes): DecodedSpan {
  const span = { trace_id: "", span_id: "", name: "", kind: 0, start_us: 0, end_us: 0, status: 0 };
  const attributes: Record<string, AttributeValue> = {};
  for (let tag = cursor.next(end); tag !== 0; tag = cursor.next(end)) {
    if (tag === SPAN.attribute) readAttribute(cursor, cursor.enter(end), SPAN_ATTRIBUTES, attributes);
    else if (tag === SPAN.trace_id) span.trace_id = cursor.text(end, "hex");
    else if (tag === SPAN.span_id) span.span_id = cursor.text(end, "hex");
    else if (tag === SPAN.name) span.name = cursor.text(end, "utf8");
    else if (tag === SPAN.kind) span.kind = cursor.varint();
    else if (tag === SPAN.start) span.start_us = fixed64NsToUs(cursor.fixed32(), cursor.fixed32());
    else if (tag === SPAN.end) span.end_us = fixed64NsToUs(cursor.fixed32(), cursor.fixed32());
    else if (tag === SPAN.status) span.status = statusCode(cursor, cursor.enter(end));
    else cursor.skip(tag, end);
  }
  return { ...span, attributes, resource };
}

function statusCode(cursor: ProtobufCursor, end: number): number {
  let code = 0;
  for (let tag = cursor.next(end); tag !== 0; tag = cursor.next(end)) {
    if (tag === STATUS_CODE) code = cursor.varint();
    else cursor.skip(tag, end);
  }
  return code;
}

/** Reads one KeyValue; the value only when the key is wanted. */
function readAttribute(cursor: ProtobufCursor, end: number, allowed: ReadonlySet<string>, into: Record<string, AttributeValue>): void {
  let key = "";
  let valueAt = -1;
  let valueEnd = -1;
  for (let tag = cursor.next(end); tag !== 0; tag = cursor.next(end)) {
    if (tag === FIRST) key = cursor.text(end, "latin1");
    else if (tag === SECOND) {
      valueEnd = cursor.enter(end);
      valueAt = cursor.position;
      cursor.moveTo(valueEnd);
    } else cursor.skip(tag, end);
  }
  if (valueAt < 0 || !allowed.has(key)) return;
  cursor.moveTo(valueAt);
  const value = decodeValue(cursor, valueEnd);
  cursor.moveTo(end);
  if (value !== null) into[key] = value;
}

function decodeValue(cursor: ProtobufCursor, end: number): AttributeValue | null {
  let value: AttributeValue | null = null;
  for (let tag = cursor.next(end); tag !== 0; tag = cursor.next(end)) {
    if (tag === ANY.text) value = cursor.text(end, "utf8").slice(0, MAX_ATTRIBUTE_CHARS);
    else if (tag === ANY.double) value = finite(cursor.double());
    else if (tag === ANY.int) value = integer(cursor.int64());
    else if (tag === ANY.bool) value = cursor.bool();
    else if (tag === ANY.array) value = texts(cursor, cursor.enter(end));
    else cursor.skip(tag, end);
  }
  return value;
}

function texts(cursor: ProtobufCursor, end: number): readonly string[] {
  const found: string[] = [];
  eachMessage(cursor, end, FIRST, (itemEnd) => {
    for (let tag = cursor.next(itemEnd); tag !== 0; tag = cursor.next(itemEnd)) {
      if (tag === ANY.text) found.push(cursor.text(itemEnd, "utf8").slice(0, MAX_ATTRIBUTE_CHARS));
      else cursor.skip(tag, itemEnd);
    }
  });
  return found;
}

function integer(value: bigint | string): AttributeValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** NaN and the infinities are no readings, so they are as good as absent. */
const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
