import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
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

/**
 * Decodes one ExportTraceServiceRequest (or TracesData: the same fields) by hand, field numbers as in `schemas/proto/opentelemetry`.
 * What the allow-lists do not name is skipped without being read. Unknown fields are skipped.
 *
 * @throws OtlpSyntaxError when the bytes are no such message.
 */
export function decodeOtlpProtobuf(bytes: Uint8Array): DecodedExport {
  const spans: DecodedSpan[] = [];
  const rejected: Partial<Record<SpanFault, number>> = {};
  try {
    for (const resourceSpans of messages(bytes, 1)) {
      let resource: Attributes = {};
      for (const message of messages(resourceSpans, 1)) resource = attributesOf(message, 1, RESOURCE_ATTRIBUTES);
      for (const scopeSpans of messages(resourceSpans, 2)) {
        for (const message of messages(scopeSpans, 2)) {
          const span = decodeSpan(message, resource);
          const fault = spanFault(span);
          if (fault === null) spans.push(span);
          else rejected[fault] = (rejected[fault] ?? 0) + 1;
        }
      }
    }
  } catch (error) {
    throw new OtlpSyntaxError(`the body is no ExportTraceServiceRequest: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { spans, rejected };
}

/** The length-delimited fields of one number, in order. */
function messages(bytes: Uint8Array, field: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === field && wire === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(wire, number);
  }
  return found;
}

function decodeSpan(bytes: Uint8Array, resource: Attributes): DecodedSpan {
  const span = { trace_id: "", span_id: "", name: "", kind: 0, start_us: 0, end_us: 0, status: 0 };
  const attributes: Record<string, AttributeValue> = {};
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    switch ((number << 3) | wire) {
      case (1 << 3) | WireType.LengthDelimited:
        span.trace_id = hex(reader.bytes());
        break;
      case (2 << 3) | WireType.LengthDelimited:
        span.span_id = hex(reader.bytes());
        break;
      case (5 << 3) | WireType.LengthDelimited:
        span.name = reader.string();
        break;
      case (6 << 3) | WireType.Varint:
        span.kind = reader.int32();
        break;
      case (7 << 3) | WireType.Bit64:
        span.start_us = fixed64NsToUs(reader.fixed32(), reader.fixed32());
        break;
      case (8 << 3) | WireType.Bit64:
        span.end_us = fixed64NsToUs(reader.fixed32(), reader.fixed32());
        break;
      case (9 << 3) | WireType.LengthDelimited:
        readAttribute(reader.bytes(), SPAN_ATTRIBUTES, attributes);
        break;
      case (15 << 3) | WireType.LengthDelimited:
        span.status = statusCode(reader.bytes());
        break;
      default:
        reader.skip(wire, number);
    }
  }
  return { ...span, attributes, resource };
}

function statusCode(bytes: Uint8Array): number {
  let code = 0;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === 3 && wire === WireType.Varint) code = reader.int32();
    else reader.skip(wire, number);
  }
  return code;
}

function attributesOf(bytes: Uint8Array, field: number, allowed: ReadonlySet<string>): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  for (const pair of messages(bytes, field)) readAttribute(pair, allowed, attributes);
  return attributes;
}

function readAttribute(pair: Uint8Array, allowed: ReadonlySet<string>, into: Record<string, AttributeValue>): void {
  let key = "";
  let value: Uint8Array | null = null;
  const reader = new BinaryReader(pair);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) key = latin1(reader.bytes());
    else if (number === 2 && wire === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(wire, number);
  }
  if (value === null || !allowed.has(key)) return;
  const decoded = decodeValue(value);
  if (decoded !== null) into[key] = decoded;
}

function decodeValue(bytes: Uint8Array): AttributeValue | null {
  let value: AttributeValue | null = null;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    switch ((number << 3) | wire) {
      case (1 << 3) | WireType.LengthDelimited:
        value = reader.string().slice(0, MAX_ATTRIBUTE_CHARS);
        break;
      case (2 << 3) | WireType.Varint:
        value = reader.bool();
        break;
      case (3 << 3) | WireType.Varint:
        value = integer(reader.int64());
        break;
      case (4 << 3) | WireType.Bit64:
        value = finite(reader.double());
        break;
      case (5 << 3) | WireType.LengthDelimited:
        value = texts(reader.bytes());
        break;
      default:
        reader.skip(wire, number);
    }
  }
  return value;
}

function texts(bytes: Uint8Array): readonly string[] {
  const found: string[] = [];
  for (const item of messages(bytes, 1)) {
    for (const text of messages(item, 1)) found.push(view(text).toString("utf8").slice(0, MAX_ATTRIBUTE_CHARS));
  }
  return found;
}

function integer(value: bigint | string): AttributeValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** NaN and the infinities are no readings, so they are as good as absent. */
const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

const hex = (bytes: Uint8Array): string => view(bytes).toString("hex");
/** Attribute names are ASCII; reading them as UTF-8 would cost more than all the rest of a span. */
const latin1 = (bytes: Uint8Array): string => view(bytes).toString("latin1");
const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
