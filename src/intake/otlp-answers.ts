import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Codes of google.rpc.Status that a receiver answers with. */
export const RPC_CODE = { INVALID_ARGUMENT: 3, RESOURCE_EXHAUSTED: 8, UNIMPLEMENTED: 12, INTERNAL: 13, UNAVAILABLE: 14 } as const;

export interface RpcStatus {
  readonly code: number;
  readonly message: string;
  /** How long to wait before the next try; null: do not retry. */
  readonly retry_s: number | null;
}

/** What was refused of an export that else was taken. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";

/** ExportTraceServiceResponse as protobuf: empty when everything was taken, as the specification asks. */
export function exportResponse(partial: PartialSuccess | null): Uint8Array {
  const writer = new BinaryWriter();
  if (partial === null) return writer.finish();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(partial.rejected);
  writer.tag(2, WireType.LengthDelimited).string(partial.message);
  return writer.join().finish();
}

/** ExportTraceServiceResponse as JSON; 64-bit integers are strings there. */
export function exportResponseJson(partial: PartialSuccess | null): string {
  if (partial === null) return "{}";
  return JSON.stringify({ partialSuccess: { rejectedSpans: String(partial.rejected), errorMessage: partial.message } });
}

/** google.rpc.Status as protobuf, with RetryInfo where a retry makes sense. */
export function rpcStatus(status: RpcStatus): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int32(status.code);
  writer.tag(2, WireType.LengthDelimited).string(status.message);
  if (status.retry_s !== null) {
    writer.tag(3, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(RETRY_INFO);
    writer.tag(2, WireType.LengthDelimited).bytes(retryInfo(status.retry_s));
    writer.join();
  }
  return writer.finish();
}

/** google.rpc.RetryInfo { retry_delay: Duration { seconds } }. */
function retryInfo(seconds: number): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(seconds);
  return writer.join().finish();
}

/** google.rpc.Status as JSON. */
export function rpcStatusJson(status: RpcStatus): string {
  const details = status.retry_s === null ? {} : { details: [{ "@type": RETRY_INFO, retryDelay: `${status.retry_s}s` }] };
  return JSON.stringify({ code: status.code, message: status.message, ...details });
}
