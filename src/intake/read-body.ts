import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import zlib from "node:zlib";

/** Bytes of all bodies that are being read, with a limit. */
export interface PendingBytes {
  value: number;
  readonly max: number;
}

export type BodyFault = "too_large" | "busy" | "encoding" | "damaged" | "aborted";

/** Reads a request body, inflating it, and stops as soon as a limit is passed: memory never holds more than the limits say. */
export function readBody(request: IncomingMessage, maxBytes: number, pending: PendingBytes): Promise<Buffer | BodyFault> {
  const inflated = inflating(request);
  if (inflated === null) return Promise.resolve("encoding");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let settled = false;
    const settle = (result: Buffer | BodyFault): void => {
      if (settled) return;
      settled = true;
      pending.value -= bytes;
      if (typeof result === "string") {
        request.unpipe();
        if (inflated !== request) inflated.destroy();
      }
      resolve(result);
    };
    inflated.on("data", (chunk: Buffer) => {
      if (settled) return;
      bytes += chunk.length;
      pending.value += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) settle("too_large");
      else if (pending.value > pending.max) settle("busy");
    });
    inflated.on("end", () => settle(Buffer.concat(chunks, bytes)));
    inflated.on("error", () => settle(inflated === request ? "aborted" : "damaged"));
    request.on("error", () => settle("aborted"));
    request.on("close", () => {
      if (!request.complete) settle("aborted");
    });
  });
}

/** The body as its Content-Encoding says; null for one that is not supported. */
function inflating(request: IncomingMessage): Readable | null {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return request;
  if (encoding === "gzip" || encoding === "x-gzip") return request.pipe(zlib.createGunzip());
  if (encoding === "deflate") return request.pipe(zlib.createInflate());
  return null;
}
