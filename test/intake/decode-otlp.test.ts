import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES } from "../../src/intake/allowed-attributes.js";
import { decodeOtlpJson } from "../../src/intake/decode-otlp-json.js";
import { decodeOtlpProtobuf } from "../../src/intake/decode-otlp-protobuf.js";
import { OtlpSyntaxError } from "../../src/intake/decoded-span.js";
import { type AnyValue, encodeProtobuf, type JsonExport, type JsonSpan, type KeyValue } from "./otlp-encode.js";

const hex = (digits: number) => fc.stringMatching(new RegExp(`^[0-9a-fA-F]{${digits}}$`));
const nanoseconds = fc.bigInt({ min: 0n, max: 2n ** 62n }).map(String);
const scalar: fc.Arbitrary<AnyValue> = fc.oneof(
  fc.record({ stringValue: fc.string({ unit: "grapheme", maxLength: 20 }) }),
  fc.record({ boolValue: fc.boolean() }),
  fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
  fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
  fc.record({ bytesValue: fc.base64String({ maxLength: 8 }) }),
  fc.constant({}),
);
const keyValue = (keys: readonly string[], value: fc.Arbitrary<AnyValue>): fc.Arbitrary<KeyValue> =>
  fc.record({ key: fc.oneof(fc.constantFrom(...keys), fc.string({ maxLength: 8 })), value });
const value: fc.Arbitrary<AnyValue> = fc.oneof(
  scalar,
  fc.record({ arrayValue: fc.record({ values: fc.array(scalar, { maxLength: 3 }) }) }),
  fc.record({ kvlistValue: fc.record({ values: fc.array(keyValue(["a"], scalar), { maxLength: 3 }) }) }),
);
const spanAttributes = fc.array(keyValue([...SPAN_ATTRIBUTES], value), { maxLength: 6 });
const span: fc.Arbitrary<JsonSpan> = fc.record(
  {
    traceId: fc.oneof(hex(32), hex(30), fc.constant("0".repeat(32))),
    spanId: fc.oneof(hex(16), fc.constant("0".repeat(16))),
    name: fc.string({ maxLength: 12 }),
    kind: fc.nat(5),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes: spanAttributes,
    events: fc.array(fc.record({ name: fc.string(), attributes: spanAttributes }), { maxLength: 1 }),
    status: fc.record({ code: fc.nat(2), message: fc.string() }, { requiredKeys: [] }),
    flags: fc.constant(256),
  },
  { requiredKeys: ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"] },
);
const exportRequest: fc.Arbitrary<JsonExport> = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource: fc.record({ attributes: fc.array(keyValue([...RESOURCE_ATTRIBUTES], value), { maxLength: 4 }) }),
      scopeSpans: fc.array(fc.record({ scope: fc.record({ name: fc.string() }), spans: fc.array(span, { maxLength: 4 }) }), {
        maxLength: 2,
      }),
    }),
    { maxLength: 2 },
  ),
});

describe("OTLP decoders", () => {
  it("give the same from JSON and from protobuf", () => {
    fc.assert(
      fc.property(exportRequest, (data) => {
        expect(decodeOtlpProtobuf(encodeProtobuf(data))).toEqual(decodeOtlpJson(JSON.stringify(data)));
      }),
      { numRuns: 300 },
    );
  });

  it("never fail in another way than with OtlpSyntaxError", () => {
    fc.assert(
      fc.property(exportRequest, fc.nat(), fc.nat(255), (data, at, byte) => {
        const bytes = Buffer.from(encodeProtobuf(data));
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        for (const decode of [() => decodeOtlpProtobuf(bytes), () => decodeOtlpProtobuf(bytes.subarray(0, at % (bytes.length + 1)))]) {
          try {
            decode();
          } catch (error) {
            expect(error).toBeInstanceOf(OtlpSyntaxError);
          }
        }
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.json(), (json) => {
        try {
          decodeOtlpJson(`{"resourceSpans":${json}}`);
        } catch (error) {
          expect(error).toBeInstanceOf(OtlpSyntaxError);
        }
      }),
    );
  });

  it("refuse bytes that overrun their message or have no field number", () => {
    for (const bytes of [[0x00], [0x0a, 0x02, 0x12, 0x05, 0x00], [0x0a, 0x05, 0x12], [0x0a, 0x03, 0x12, 0x01, 0x08], [0x0b]])
      expect(() => decodeOtlpProtobuf(Uint8Array.from(bytes))).toThrow(new OtlpSyntaxError("the body is no OTLP protobuf message"));
  });

  it("keep nanoseconds exact to the microsecond, also where JSON has a number", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 16n, max: 2n ** 62n }), (ns) => {
        const json = (time: string) =>
          `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174","startTimeUnixNano":${time},"endTimeUnixNano": ${time} }]}]}]}`;
        for (const time of [`"${ns}"`, `${ns}`])
          expect(decodeOtlpJson(json(time)).spans[0]).toMatchObject({ start_us: Number(ns / 1000n), end_us: Number(ns / 1000n), kind: 0 });
      }),
    );
  });

  it("take SGLang's trace ids with a zero upper half, and refuse all-zero and base64 ones", () => {
    const ids = ["0000000000000000abcdef0123456789", "0".repeat(32), "W47/95gDgQPSabYzgT/GDA=="];
    const spans = ids.map((traceId) => ({ traceId, spanId: "eee19b7ec3c1b174", startTimeUnixNano: "1", endTimeUnixNano: "2" }));
    const decoded = decodeOtlpJson(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
    expect(decoded.spans.map((s) => s.trace_id)).toEqual([ids[0]]);
    expect(decoded.rejected).toEqual({ trace_id: 2 });
  });
});
