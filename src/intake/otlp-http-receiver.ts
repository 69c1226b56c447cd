import http from "node:http";
import { AppError } from "../../schemas/error-codes.js";
import { decodeOtlpJson } from "./decode-otlp-json.js";
import { decodeOtlpProtobuf } from "./decode-otlp-protobuf.js";
import { exportResponse, exportResponseJson, RPC_CODE, type RpcStatus, rpcStatus, rpcStatusJson } from "./otlp-answers.js";
import { type BodyFault, type PendingBytes, readBody } from "./read-body.js";
import {
  createExportHandler,
  DEFAULT_RECEIVER_LIMITS,
  type ExportHandler,
  type Receiver,
  type ReceiverLimits,
  type ReceiverOptions,
} from "./receive-export.js";

/** How long `stop` waits for bodies that are being read, ms. */
const STOP_MS = 3000;
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const PATH = "/v1/traces";
const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";

/** Receives traces over OTLP/HTTP: protobuf and JSON, plain, gzip or deflate. */
export function createOtlpHttpReceiver(options: ReceiverOptions): Receiver {
  const limits = { ...DEFAULT_RECEIVER_LIMITS, ...options.limits };
  const handler = createExportHandler(options, limits.retry_s);
  const pending: PendingBytes = { value: 0, max: limits.max_pending_bytes };
  let stopping = false;
  const server = http.createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
    void answer(request, limits, handler, pending, () => stopping)
      .catch((error: unknown) => unexpected(request, error))
      .then((reply) => send(request, response, reply, stopping));
  });
  return {
    counters: handler.counters,
    start: () =>
      new Promise((resolve, reject) => {
        const refused = (error: Error): void =>
          reject(
            new AppError("PORT_IN_USE", `OTLP/HTTP cannot listen on ${options.host}:${options.port}: ${error.message}`, { cause: error }),
          );
        server.once("error", refused);
        server.listen(options.port, options.host, () => {
          server.off("error", refused);
          const address = server.address();
          resolve({ port: typeof address === "object" && address !== null ? address.port : options.port });
        });
      }),
    async stop() {
      if (stopping) return;
      stopping = true;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), STOP_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

async function answer(
  request: http.IncomingMessage,
  limits: ReceiverLimits,
  handler: ExportHandler,
  pending: PendingBytes,
  isStopping: () => boolean,
): Promise<Reply> {
  const type = contentType(request);
  const refuse = (status: number, rpc: RpcStatus): Reply => ({
    status,
    ...statusBody(type ?? JSON_TYPE, rpc),
    ...(rpc.retry_s === null ? {} : { headers: { "Retry-After": String(rpc.retry_s) } }),
  });
  if ((request.url ?? "/").split("?")[0] !== PATH) return refuse(404, permanent(RPC_CODE.UNIMPLEMENTED, `only ${PATH} is received here`));
  if (request.method !== "POST")
    return { ...refuse(405, permanent(RPC_CODE.UNIMPLEMENTED, "only POST is received here")), headers: { Allow: "POST" } };
  if (type === null) return refuse(415, permanent(RPC_CODE.INVALID_ARGUMENT, `the content type must be ${PROTOBUF} or ${JSON_TYPE}`));
  if (isStopping()) return refuse(503, { code: RPC_CODE.UNAVAILABLE, message: "shutting down", retry_s: limits.retry_s });
  const busy = handler.busy();
  if (busy && !busy.ok) return refuse(503, busy.status);
  const body = await readBody(request, limits.max_message_bytes, pending);
  if (typeof body === "string") {
    if (body === "too_large") handler.counters.oversize_exports++;
    else if (body === "busy") handler.counters.refused_exports++;
    else handler.counters.malformed_exports++;
    return refuse(...BODY_FAULTS[body](limits));
  }
  const taken = handler.take(() => (type === PROTOBUF ? decodeOtlpProtobuf(body) : decodeOtlpJson(body.toString("utf8"))));
  if (!taken.ok) return refuse(400, taken.status);
  return { status: 200, type, body: type === PROTOBUF ? exportResponse(taken.partial) : exportResponseJson(taken.partial) };
}

/** A defect of ours: the sender is told, and the receiver goes on. 500 is not retried by OTLP senders. */
function unexpected(request: http.IncomingMessage, error: unknown): Reply {
  const message = error instanceof Error ? error.message : String(error);
  return { status: 500, ...statusBody(contentType(request) ?? JSON_TYPE, permanent(RPC_CODE.INTERNAL, message)) };
}

const permanent = (code: number, message: string): RpcStatus => ({ code, message, retry_s: null });

const BODY_FAULTS: Readonly<Record<BodyFault, (limits: ReceiverLimits) => [number, RpcStatus]>> = {
  too_large: (limits) => [413, permanent(RPC_CODE.RESOURCE_EXHAUSTED, `the body is larger than ${limits.max_message_bytes} bytes`)],
  busy: (limits) => [503, { code: RPC_CODE.UNAVAILABLE, message: "too many exports at once", retry_s: limits.retry_s }],
  encoding: () => [415, permanent(RPC_CODE.INVALID_ARGUMENT, "the content encoding must be gzip, deflate or identity")],
  damaged: () => [400, permanent(RPC_CODE.INVALID_ARGUMENT, "the compressed body is damaged")],
  aborted: () => [400, permanent(RPC_CODE.INVALID_ARGUMENT, "the body ended early")],
};

/** The media type without its parameters, or null when it is none of ours. */
function contentType(request: http.IncomingMessage): string | null {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  return type === PROTOBUF || type === JSON_TYPE ? type : null;
}

const statusBody = (type: string, rpc: RpcStatus): Pick<Reply, "type" | "body"> => ({
  type,
  body: type === PROTOBUF ? rpcStatus(rpc) : rpcStatusJson(rpc),
});

function send(request: http.IncomingMessage, response: http.ServerResponse, reply: Reply, isStopping: boolean): void {
  if (response.destroyed) return;
  // A body that was not read to its end is thrown away, so that the sender gets to the answer; the connection is not used again.
  const isCut = !request.complete;
  if (isCut) request.resume();
  response.writeHead(reply.status, {
    "Content-Type": reply.type,
    "Content-Length": Buffer.byteLength(reply.body),
    ...(isCut || isStopping ? { Connection: "close" } : {}),
    ...reply.headers,
  });
  response.end(reply.body);
}
