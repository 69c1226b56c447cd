import http from "node:http";
import net from "node:net";
import zlib from "node:zlib";
import * as grpc from "@grpc/grpc-js";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { CompressionAlgorithm } from "@opentelemetry/otlp-exporter-base";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOtlpGrpcReceiver } from "../../src/intake/otlp-grpc-receiver.js";
import { createOtlpHttpReceiver } from "../../src/intake/otlp-http-receiver.js";
import type { Receiver, ReceiverOptions } from "../../src/intake/receive-export.js";
import { MemorySink } from "./memory-sink.js";

const SOURCE = { name: "otlp", node: "n1", run: null, interval_ms: null, window_ms: null, lag_ms: null };
const SECRET = "the prompt that must never be stored";

let sink: MemorySink;
let receivers: Receiver[];
let accepting: boolean;

beforeEach(() => {
  sink = new MemorySink();
  receivers = [];
  accepting = true;
});
afterEach(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

async function start(create: (options: ReceiverOptions) => Receiver, limits: ReceiverOptions["limits"] = {}) {
  const receiver = create({ host: "127.0.0.1", port: 0, sink, source: SOURCE, accepting: () => accepting, limits });
  receivers.push(receiver);
  const { port } = await receiver.start();
  return { receiver, port };
}

/** Sends `count` spans as vLLM makes them through the real SDK. */
async function sendWithSdk(exporter: SpanExporter, count: number): Promise<void> {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": "vllm-a", "k8s.pod.name": "llm-0", "process.command_line": SECRET }),
    spanProcessors: [new BatchSpanProcessor(exporter, { maxExportBatchSize: 64, maxQueueSize: 4096 })],
  });
  const tracer = provider.getTracer("vllm.llm_engine");
  for (let i = 0; i < count; i++) {
    const start = 1_768_932_686_520 + i;
    const span = tracer.startSpan("llm_request", {
      kind: SpanKind.SERVER,
      startTime: start,
      attributes: {
        "gen_ai.request.id": `cmpl-${String(i).padStart(32, "0")}-0`,
        "gen_ai.latency.time_to_first_token": 0.314,
        "gen_ai.latency.e2e": 1.745,
        "gen_ai.latency.time_in_queue": 0.00002,
        "gen_ai.usage.prompt_tokens": 2998,
        "gen_ai.usage.completion_tokens": 56,
        "gen_ai.prompt": SECRET,
      },
    });
    span.addEvent("gen_ai.content.prompt", { "gen_ai.prompt": SECRET });
    span.setStatus({ code: SpanStatusCode.OK, message: SECRET });
    span.end(start + 1745);
  }
  await provider.forceFlush();
  await provider.shutdown();
}

describe("a real OpenTelemetry SDK as client", () => {
  const clients: [string, (options: ReceiverOptions) => Receiver, (port: number) => SpanExporter][] = [
    ["gRPC", createOtlpGrpcReceiver, (port) => new GrpcExporter({ url: `http://127.0.0.1:${port}` })],
    [
      "gRPC with gzip",
      createOtlpGrpcReceiver,
      (port) => new GrpcExporter({ url: `http://127.0.0.1:${port}`, compression: CompressionAlgorithm.GZIP }),
    ],
    ["HTTP/JSON", createOtlpHttpReceiver, (port) => new JsonExporter({ url: `http://127.0.0.1:${port}/v1/traces` })],
    [
      "HTTP/JSON with gzip",
      createOtlpHttpReceiver,
      (port) => new JsonExporter({ url: `http://127.0.0.1:${port}/v1/traces`, compression: CompressionAlgorithm.GZIP }),
    ],
    ["HTTP/protobuf", createOtlpHttpReceiver, (port) => new ProtoExporter({ url: `http://127.0.0.1:${port}/v1/traces` })],
    [
      "HTTP/protobuf with gzip",
      createOtlpHttpReceiver,
      (port) => new ProtoExporter({ url: `http://127.0.0.1:${port}/v1/traces`, compression: CompressionAlgorithm.GZIP }),
    ],
  ];
  it.each(clients)("%s: every span becomes a request, and no content is kept", async (_name, create, exporter) => {
    const { receiver, port } = await start(create);
    await sendWithSdk(exporter(port), 200);
    expect(sink.views).toHaveLength(200);
    expect(receiver.counters).toMatchObject({ accepted: 200, ignored: 0, rejected: 0, malformed_exports: 0 });
    const first = sink.views.find((view) => view.request_id === "cmpl-00000000000000000000000000000000-0");
    expect(first).toMatchObject({
      join_id: "00000000000000000000000000000000",
      view: "server",
      start_us: 1_768_932_686_520_000,
      first_token_us: 1_768_932_686_834_000,
      end_us: 1_768_932_688_265_000,
      ttft_ms: 314,
      input_tokens: 2998,
      output_tokens: 56,
      server: { pod: "llm-0", service: "vllm-a" },
    });
    expect(new Set(sink.views.map((view) => view.span_key)).size).toBe(200);
    expect(JSON.stringify(sink)).not.toContain("the prompt");
  });

  // The JavaScript SDK's gRPC exporter never comes again, whatever it is told; others do.
  it.each(clients.filter(([name]) => name.startsWith("HTTP")))(
    "%s: a full store loses nothing, the SDK comes again",
    async (_name, create, exporter) => {
      accepting = false;
      const { receiver, port } = await start(create);
      const sent = sendWithSdk(exporter(port), 5);
      await expect.poll(() => receiver.counters.refused_exports, { timeout: 20_000 }).toBeGreaterThan(0);
      expect(sink.views).toHaveLength(0);
      accepting = true;
      await sent;
      expect(sink.views).toHaveLength(5);
    },
  );
});

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

function post(
  port: number,
  options: { path?: string; method?: string; headers?: Record<string, string>; body?: Buffer | string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: "127.0.0.1",
        port,
        path: options.path ?? "/v1/traces",
        method: options.method ?? "POST",
        headers: options.headers,
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }));
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

const JSON_HEADERS = { "Content-Type": "application/json; charset=utf-8" };
const PROTO_HEADERS = { "Content-Type": "application/x-protobuf" };
const span = (over: object = {}) => ({
  traceId: "5B8EFFF798038103D269B633813FC60C",
  spanId: "EEE19B7EC3C1B174",
  name: "llm_request",
  kind: 2,
  startTimeUnixNano: "1768932686520053504",
  endTimeUnixNano: "1768932688265530122",
  attributes: [],
  ...over,
});
const request = (...spans: object[]) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

describe("OTLP/HTTP", () => {
  it("answers an empty request with success, in the same type", async () => {
    const { port } = await start(createOtlpHttpReceiver);
    const json = await post(port, { headers: JSON_HEADERS, body: "{}" });
    expect([json.status, json.headers["content-type"], json.body.toString()]).toEqual([200, "application/json", "{}"]);
    const proto = await post(port, { headers: PROTO_HEADERS, body: "" });
    expect([proto.status, proto.headers["content-type"], proto.body.length]).toEqual([200, "application/x-protobuf", 0]);
  });

  it("tells a partial success with counts, and keeps the good spans", async () => {
    const { port } = await start(createOtlpHttpReceiver);
    const body = request(
      span(),
      span({ traceId: "W47/95gDgQPSabYzgT/GDA==" }),
      span({ spanId: "0000000000000000" }),
      span({ endTimeUnixNano: "1768932686520053503" }),
      span({ startTimeUnixNano: "100000000", endTimeUnixNano: "200000000" }),
      span({ name: "GET /health" }),
    );
    const answer = await post(port, { headers: JSON_HEADERS, body });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body.toString())).toEqual({
      partialSuccess: { rejectedSpans: "3", errorMessage: "refused spans: clock_not_anchored 1, span_id 1, trace_id 1" },
    });
    expect(sink.views).toHaveLength(2);
  });

  it.each([
    ["another content type", 415, { headers: { "Content-Type": "text/plain" }, body: "x" }],
    ["no content type", 415, { body: "x" }],
    ["another content encoding", 415, { headers: { ...JSON_HEADERS, "Content-Encoding": "br" }, body: "x" }],
    ["GET", 405, { method: "GET" }],
    ["metrics", 404, { path: "/v1/metrics", headers: JSON_HEADERS, body: "{}" }],
    ["a path that is no URL", 404, { path: "//", headers: JSON_HEADERS, body: "{}" }],
    ["broken JSON", 400, { headers: JSON_HEADERS, body: "{" }],
    ["another JSON", 400, { headers: JSON_HEADERS, body: '{"resourceMetrics":[]}' }],
    ["broken protobuf", 400, { headers: PROTO_HEADERS, body: Buffer.from([0x0a, 0xff, 0x01]) }],
    ["damaged gzip", 400, { headers: { ...JSON_HEADERS, "Content-Encoding": "gzip" }, body: "no gzip" }],
    ["cut gzip", 400, { headers: { ...JSON_HEADERS, "Content-Encoding": "gzip" }, body: zlib.gzipSync(request(span())).subarray(0, 60) }],
  ])("refuses %s with %i and a google.rpc.Status", async (_name, status, options) => {
    const { port } = await start(createOtlpHttpReceiver);
    const answer = await post(port, options);
    expect(answer.status).toBe(status);
    expect(answer.body.length).toBeGreaterThan(0);
    if (answer.headers["content-type"] === "application/json")
      expect(JSON.parse(answer.body.toString())).toMatchObject({ message: expect.any(String) });
    expect(sink.views).toHaveLength(0);
    expect((await post(port, { headers: JSON_HEADERS, body: "{}" })).status).toBe(200);
  });

  it("stops a gzip bomb while it inflates: the answer comes although the body never ends", async () => {
    const { receiver, port } = await start(createOtlpHttpReceiver, { max_message_bytes: 2 ** 20 });
    const bomb = zlib.gzipSync(Buffer.alloc(64 * 2 ** 20));
    expect(bomb.length).toBeLessThan(2 ** 17);
    const status = await new Promise((resolve, reject) => {
      const headers = { ...PROTO_HEADERS, "Content-Encoding": "gzip", "Content-Length": String(2 ** 30) };
      const open = http.request({ host: "127.0.0.1", port, path: "/v1/traces", method: "POST", headers, agent: false }, (response) => {
        resolve(response.statusCode);
        open.destroy();
      });
      open.on("error", reject);
      open.write(bomb.subarray(0, bomb.length / 2));
    });
    expect(status).toBe(413);
    expect(receiver.counters.oversize_exports).toBe(1);
  });

  it("refuses a plain body over the limit, and bodies that together are too many", async () => {
    const { port } = await start(createOtlpHttpReceiver, { max_message_bytes: 1000, max_pending_bytes: 5000 });
    expect((await post(port, { headers: JSON_HEADERS, body: "x".repeat(100_000) })).status).toBe(413);
    const other = await start(createOtlpHttpReceiver, { max_message_bytes: 100_000, max_pending_bytes: 5000 });
    const answer = await post(other.port, { headers: JSON_HEADERS, body: "x".repeat(50_000) });
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
  });

  it("answers 503 with Retry-After while the store is full", async () => {
    accepting = false;
    const { port } = await start(createOtlpHttpReceiver);
    const answer = await post(port, { headers: JSON_HEADERS, body: request(span()) });
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 14, details: [{ retryDelay: "1s" }] });
  });

  it("survives a sender that hangs up in the middle", async () => {
    const { receiver, port } = await start(createOtlpHttpReceiver);
    await new Promise<void>((resolve) => {
      const socket = net.connect(port, "127.0.0.1", () => {
        socket.write("POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{");
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on("close", () => resolve());
    });
    await expect.poll(() => receiver.counters.malformed_exports).toBe(1);
    expect((await post(port, { headers: JSON_HEADERS, body: request(span()) })).status).toBe(200);
  });

  it("lets an export end that is being read when it stops, and takes no new ones", async () => {
    const { receiver, port } = await start(createOtlpHttpReceiver);
    const body = request(span());
    const headers = { ...JSON_HEADERS, "Content-Length": String(Buffer.byteLength(body)), Expect: "100-continue" };
    const stops: Promise<void>[] = [];
    const status = await new Promise((resolve, reject) => {
      const open = http.request({ host: "127.0.0.1", port, path: "/v1/traces", method: "POST", headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      open.on("error", reject);
      // The receiver answers "100 Continue" when it begins to read.
      open.on("continue", () => {
        open.write(body.slice(0, 20));
        stops.push(receiver.stop());
        open.end(body.slice(20));
      });
      open.flushHeaders();
    });
    expect(status).toBe(200);
    await Promise.all(stops);
    expect(sink.views).toHaveLength(1);
    await expect(post(port, { headers: JSON_HEADERS, body: "{}" })).rejects.toThrow(/ECONNREFUSED/);
  });

  it("says which port is taken", async () => {
    const { port } = await start(createOtlpHttpReceiver);
    const second = createOtlpHttpReceiver({ host: "127.0.0.1", port, sink, source: SOURCE });
    await expect(second.start()).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await second.stop();
  });
});

describe("OTLP/gRPC", () => {
  const call = (
    port: number,
    path: string,
    message: Buffer,
  ): Promise<{ code: number; bytes: Buffer | null; metadata: grpc.Metadata | null }> => {
    const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), { "grpc.max_send_message_length": -1 });
    return new Promise((resolve) => {
      client.makeUnaryRequest(
        path,
        (value: Buffer) => value,
        (value: Buffer) => value,
        message,
        { deadline: Date.now() + 20_000 },
        (error, bytes) => {
          client.close();
          resolve({ code: error?.code ?? 0, bytes: bytes ?? null, metadata: error?.metadata ?? null });
        },
      );
    });
  };
  const TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

  it("answers by the codes that senders know", async () => {
    const { receiver, port } = await start(createOtlpGrpcReceiver, { max_message_bytes: 100_000 });
    expect(await call(port, TRACES, Buffer.alloc(0))).toMatchObject({ code: 0, bytes: Buffer.alloc(0) });
    expect((await call(port, TRACES, Buffer.from([0x0a, 0xff, 0x01]))).code).toBe(grpc.status.INVALID_ARGUMENT);
    expect((await call(port, TRACES, Buffer.alloc(200_000))).code).toBe(grpc.status.RESOURCE_EXHAUSTED);
    expect((await call(port, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", Buffer.alloc(0))).code).toBe(
      grpc.status.UNIMPLEMENTED,
    );
    accepting = false;
    const refused = await call(port, TRACES, Buffer.alloc(0));
    expect(refused.code).toBe(grpc.status.UNAVAILABLE);
    expect(refused.metadata?.get("grpc-status-details-bin")[0]?.toString()).toContain("google.rpc.RetryInfo");
    expect(receiver.counters).toMatchObject({ malformed_exports: 1, refused_exports: 1 });
  });

  it("says which port is taken", async () => {
    const { port } = await start(createOtlpGrpcReceiver);
    const second = createOtlpGrpcReceiver({ host: "127.0.0.1", port, sink, source: SOURCE });
    await expect(second.start()).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await second.stop();
  });
});
