import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A value as OTLP/JSON writes it; the encoder below gives the same as protobuf. */
export interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string;
  doubleValue?: number;
  arrayValue?: { values: AnyValue[] };
  kvlistValue?: { values: KeyValue[] };
  bytesValue?: string;
}
export interface KeyValue {
  key: string;
  value: AnyValue;
}
export interface JsonSpan {
  traceId: string;
  spanId: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  events?: { name: string; attributes: KeyValue[] }[];
  status: { code?: number; message?: string };
  flags?: number;
}
export interface JsonExport {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { scope: { name: string }; spans: JsonSpan[] }[] }[];
}

type Write = (writer: BinaryWriter) => void;

function message(writer: BinaryWriter, field: number, write: Write): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}
const text = (writer: BinaryWriter, field: number, value: string) => writer.tag(field, WireType.LengthDelimited).string(value);

function anyValue(writer: BinaryWriter, value: AnyValue): void {
  if (value.stringValue !== undefined) text(writer, 1, value.stringValue);
  else if (value.boolValue !== undefined) writer.tag(2, WireType.Varint).bool(value.boolValue);
  else if (value.intValue !== undefined) writer.tag(3, WireType.Varint).int64(BigInt(value.intValue));
  else if (value.doubleValue !== undefined) writer.tag(4, WireType.Bit64).double(value.doubleValue);
  else if (value.arrayValue !== undefined) {
    const { values } = value.arrayValue;
    message(writer, 5, (w) => {
      for (const item of values) message(w, 1, (v) => anyValue(v, item));
    });
  } else if (value.kvlistValue !== undefined) {
    const { values } = value.kvlistValue;
    message(writer, 6, (w) => attributes(w, 1, values));
  } else if (value.bytesValue !== undefined) writer.tag(7, WireType.LengthDelimited).bytes(Buffer.from(value.bytesValue, "base64"));
}

function attributes(writer: BinaryWriter, field: number, list: readonly KeyValue[]): void {
  for (const { key, value } of list)
    message(writer, field, (w) => {
      text(w, 1, key);
      message(w, 2, (v) => anyValue(v, value));
    });
}

function spanFields(writer: BinaryWriter, span: JsonSpan): void {
  writer.tag(1, WireType.LengthDelimited).bytes(Buffer.from(span.traceId, "hex"));
  writer.tag(2, WireType.LengthDelimited).bytes(Buffer.from(span.spanId, "hex"));
  text(writer, 5, span.name);
  writer.tag(6, WireType.Varint).int32(span.kind);
  writer.tag(7, WireType.Bit64).fixed64(BigInt(span.startTimeUnixNano));
  writer.tag(8, WireType.Bit64).fixed64(BigInt(span.endTimeUnixNano));
  attributes(writer, 9, span.attributes);
  for (const event of span.events ?? [])
    message(writer, 11, (w) => {
      text(w, 2, event.name);
      attributes(w, 3, event.attributes);
    });
  message(writer, 15, (w) => {
    if (span.status.message !== undefined) text(w, 2, span.status.message);
    if (span.status.code !== undefined) w.tag(3, WireType.Varint).int32(span.status.code);
  });
  if (span.flags !== undefined) writer.tag(16, WireType.Bit32).fixed32(span.flags);
}

/** The JSON export as protobuf, the resource behind its spans, where an encoder may put it. */
export function encodeProtobuf(data: JsonExport): Uint8Array {
  const writer = new BinaryWriter();
  for (const { resource, scopeSpans } of data.resourceSpans)
    message(writer, 1, (resourceSpans) => {
      for (const { scope, spans } of scopeSpans)
        message(resourceSpans, 2, (scoped) => {
          message(scoped, 1, (w) => text(w, 1, scope.name));
          for (const span of spans) message(scoped, 2, (w) => spanFields(w, span));
        });
      message(resourceSpans, 1, (w) => attributes(w, 1, resource.attributes));
    });
  return writer.finish();
}
