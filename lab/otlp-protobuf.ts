import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type OtlpAttribute, type OtlpSpan, SPAN_KIND, SPAN_NAME, SPAN_SCOPE } from "./request-records.js";

/** Field numbers of opentelemetry/proto/{collector/trace,trace,resource,common}/v1. */
type Write = (writer: BinaryWriter) => void;

function message(writer: BinaryWriter, field: number, write: Write): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

function attribute(writer: BinaryWriter, field: number, { key, value }: OtlpAttribute): void {
  message(writer, field, (kv) => {
    text(kv, 1, key);
    message(kv, 2, (any) => {
      if ("stringValue" in value) text(any, 1, value.stringValue);
      else if ("intValue" in value) any.tag(3, WireType.Varint).int64(value.intValue);
      else any.tag(4, WireType.Bit64).double(value.doubleValue);
    });
  });
}

function span(writer: BinaryWriter, field: number, s: OtlpSpan): void {
  message(writer, field, (w) => {
    w.tag(1, WireType.LengthDelimited).bytes(Buffer.from(s.traceId, "hex"));
    w.tag(2, WireType.LengthDelimited).bytes(Buffer.from(s.spanId, "hex"));
    text(w, 5, SPAN_NAME);
    w.tag(6, WireType.Varint).int32(SPAN_KIND);
    w.tag(7, WireType.Bit64).fixed64(s.startTimeUnixNano);
    w.tag(8, WireType.Bit64).fixed64(s.endTimeUnixNano);
    for (const a of s.attributes) attribute(w, 9, a);
    message(w, 15, () => undefined);
    w.tag(16, WireType.Bit32).fixed32(256);
  });
}

/** ExportTraceServiceRequest with the spans of one server. */
export function encodeExportRequest(spans: readonly OtlpSpan[], resource: readonly OtlpAttribute[]): Uint8Array {
  const writer = new BinaryWriter();
  message(writer, 1, (resourceSpans) => {
    message(resourceSpans, 1, (r) => {
      for (const a of resource) attribute(r, 1, a);
    });
    message(resourceSpans, 2, (scopeSpans) => {
      message(scopeSpans, 1, (scope) => text(scope, 1, SPAN_SCOPE));
      for (const s of spans) span(scopeSpans, 2, s);
    });
  });
  return writer.finish();
}
