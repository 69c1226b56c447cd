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
import { asArray, asNumber, asObject, asText, parseJsonExact } from "./exact-json.js";
import { nsToUs } from "./nanoseconds.js";

/**
 * Decodes one OTLP/JSON ExportTraceServiceRequest or TracesData (the same tree). Unknown fields are ignored, as the specification asks.
 *
 * @throws OtlpSyntaxError when the text is no JSON or has no `resourceSpans` where there is anything at all.
 */
export function decodeOtlpJson(text: string): DecodedExport {
  let tree: Readonly<Record<string, unknown>> | null;
  try {
    tree = asObject(parseJsonExact(text));
  } catch {
    throw new OtlpSyntaxError("the body is not valid JSON");
  }
  if (!tree) throw new OtlpSyntaxError("the body is not a JSON object");
  if (tree.resourceSpans === undefined && Object.keys(tree).length > 0) throw new OtlpSyntaxError("resourceSpans is missing");
  if (tree.resourceSpans !== undefined && tree.resourceSpans !== null && !Array.isArray(tree.resourceSpans))
    throw new OtlpSyntaxError("resourceSpans is not an array");
  const spans: DecodedSpan[] = [];
  const rejected: Partial<Record<SpanFault, number>> = {};
  for (const resourceSpans of asArray(tree.resourceSpans).map(asObject)) {
    const resource = decodeAttributes(asObject(resourceSpans?.resource)?.attributes, RESOURCE_ATTRIBUTES);
    for (const scopeSpans of asArray(resourceSpans?.scopeSpans).map(asObject)) {
      for (const item of asArray(scopeSpans?.spans)) {
        const span = decodeSpan(item, resource);
        if (typeof span === "string") rejected[span] = (rejected[span] ?? 0) + 1;
        else spans.push(span);
      }
    }
  }
  return { spans, rejected };
}

function decodeSpan(item: unknown, resource: Attributes): DecodedSpan | SpanFault {
  const source = asObject(item);
  if (!source) return "syntax";
  const span: DecodedSpan = {
    trace_id: asText(source.traceId)?.toLowerCase() ?? "",
    span_id: asText(source.spanId)?.toLowerCase() ?? "",
    name: asText(source.name) ?? "",
    kind: asNumber(source.kind) ?? 0,
    start_us: nsToUs(source.startTimeUnixNano ?? 0) ?? Number.NaN,
    end_us: nsToUs(source.endTimeUnixNano ?? 0) ?? Number.NaN,
    status: asNumber(asObject(source.status)?.code) ?? 0,
    attributes: decodeAttributes(source.attributes, SPAN_ATTRIBUTES),
    resource,
  };
  return spanFault(span) ?? span;
}

function decodeAttributes(list: unknown, allowed: ReadonlySet<string>): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  for (const item of asArray(list)) {
    const pair = asObject(item);
    if (!pair || typeof pair.key !== "string" || !allowed.has(pair.key)) continue;
    const value = decodeValue(asObject(pair.value));
    if (value !== null) attributes[pair.key] = value;
  }
  return attributes;
}

function decodeValue(value: Readonly<Record<string, unknown>> | null): AttributeValue | null {
  if (!value) return null;
  if (typeof value.stringValue === "string") return value.stringValue.slice(0, MAX_ATTRIBUTE_CHARS);
  if (value.intValue !== undefined) return decodeInteger(value.intValue);
  if (value.doubleValue !== undefined) return asNumber(value.doubleValue);
  if (typeof value.boolValue === "boolean") return value.boolValue;
  const array = asObject(value.arrayValue);
  if (array) return decodeTexts(asArray(array.values));
  return null;
}

function decodeInteger(value: unknown): AttributeValue | null {
  const number = typeof value === "string" && /^-?\d{1,20}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) return null;
  return Number.isSafeInteger(number) ? number : String(value);
}

function decodeTexts(values: readonly unknown[]): readonly string[] {
  const texts: string[] = [];
  for (const item of values) {
    const text = asObject(item)?.stringValue;
    if (typeof text === "string") texts.push(text.slice(0, MAX_ATTRIBUTE_CHARS));
  }
  return texts;
}
