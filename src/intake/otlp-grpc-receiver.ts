import * as grpc from "@grpc/grpc-js";
import { AppError } from "../../schemas/error-codes.js";
import { decodeOtlpProtobuf } from "./decode-otlp-protobuf.js";
import { exportResponse, RPC_CODE, type RpcStatus, rpcStatus } from "./otlp-answers.js";
import { createExportHandler, DEFAULT_RECEIVER_LIMITS, type ExportAnswer, type Receiver, type ReceiverOptions } from "./receive-export.js";

/** How long `stop` waits for exports that are being read, ms. */
const STOP_MS = 3000;
const KEEPALIVE_MS = 30_000;
// The library writes lines of its own on standard error; faults reach the caller as errors all the same.
grpc.setLogVerbosity(grpc.logVerbosity.NONE);

/** Messages go through as bytes, so that decoding is ours to limit. Services that are not named here answer UNIMPLEMENTED. */
const TRACE_SERVICE: grpc.ServiceDefinition = {
  export: {
    path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    requestStream: false,
    responseStream: false,
    requestSerialize: (message: Buffer) => message,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (message: Buffer) => message,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
};

/** Receives traces over OTLP/gRPC. */
export function createOtlpGrpcReceiver(options: ReceiverOptions): Receiver {
  const limits = { ...DEFAULT_RECEIVER_LIMITS, ...options.limits };
  const handler = createExportHandler(options, limits.retry_s);
  const server = new grpc.Server({
    "grpc.max_receive_message_length": limits.max_message_bytes,
    "grpc.max_concurrent_streams": Math.max(1, Math.floor(limits.max_pending_bytes / limits.max_message_bytes)),
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
  });
  let stopping = false;
  const exportTraces: grpc.handleUnaryCall<Buffer, Buffer> = (call, callback) => {
    const refusal = stopping ? { ok: false as const, status: shuttingDown(limits.retry_s) } : handler.busy();
    let answer: ExportAnswer;
    try {
      answer = refusal ?? handler.take(() => decodeOtlpProtobuf(call.request));
    } catch (error) {
      // A defect of ours: the sender is told, and the receiver goes on.
      answer = { ok: false, status: { code: RPC_CODE.INTERNAL, message: String(error), retry_s: null } };
    }
    if (answer.ok) callback(null, Buffer.from(exportResponse(answer.partial)));
    else callback(serviceError(answer.status));
  };
  server.addService(TRACE_SERVICE, { export: exportTraces });
  return {
    counters: handler.counters,
    start: () =>
      new Promise((resolve, reject) => {
        const address = `${options.host.includes(":") ? `[${options.host}]` : options.host}:${options.port}`;
        server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, port) => {
          if (error) reject(new AppError("PORT_IN_USE", `OTLP/gRPC cannot listen on ${address}: ${error.message}`, { cause: error }));
          else resolve({ port });
        });
      }),
    async stop() {
      if (stopping) return;
      stopping = true;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          server.forceShutdown();
          resolve();
        }, STOP_MS);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}

const shuttingDown = (retry_s: number): RpcStatus => ({ code: RPC_CODE.UNAVAILABLE, message: "shutting down", retry_s });

function serviceError(status: RpcStatus): grpc.ServerErrorResponse {
  const metadata = new grpc.Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(rpcStatus(status)));
  return Object.assign(new Error(status.message), { code: status.code, details: status.message, metadata });
}
