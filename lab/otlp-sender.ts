import http from "node:http";
import * as grpc from "@grpc/grpc-js";
import { encodeExportRequest } from "./otlp-protobuf.js";
import { exportRequest, type OtlpSpan, SPAN_RESOURCE } from "./request-records.js";

/** Where spans go: `grpc://HOST:PORT`, or the base URL of OTLP/HTTP (`http://HOST:PORT`, JSON with `?json`). */
export type OtlpTarget = string;

const SEND_EVERY_MS = 2000;
const MAX_BATCH = 512;
const MAX_QUEUE = 20_000;
const TIMEOUT_MS = 5000;
const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/** Sends spans in batches as an OpenTelemetry SDK does: on a timer, kept and tried again when nobody takes them. */
export class OtlpSender {
  private queue: OtlpSpan[] = [];
  private target: OtlpTarget | null = null;
  private client: grpc.Client | null = null;
  private sending: Promise<void> = Promise.resolve();
  private readonly timer = setInterval(() => void this.flush(), SEND_EVERY_MS);
  sent = 0;
  dropped = 0;
  failures = 0;

  setTarget(target: OtlpTarget | null): void {
    this.client?.close();
    this.client = target?.startsWith("grpc://") ? new grpc.Client(target.slice("grpc://".length), grpc.credentials.createInsecure()) : null;
    this.target = target;
  }

  add(spans: readonly OtlpSpan[]): void {
    if (!this.target) return;
    this.queue.push(...spans);
    const over = this.queue.length - MAX_QUEUE;
    if (over > 0) {
      this.queue.splice(0, over);
      this.dropped += over;
    }
  }

  /** Sends what waits; settles when it was taken or refused. Never rejects. */
  flush(): Promise<void> {
    this.sending = this.sending.then(() => this.drain());
    return this.sending;
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0 && this.target) {
      const batch = this.queue.slice(0, MAX_BATCH);
      try {
        if (this.client) await this.sendGrpc(this.client, batch);
        else await this.sendHttp(this.target, batch);
      } catch {
        this.failures++;
        return;
      }
      this.queue.splice(0, batch.length);
      this.sent += batch.length;
    }
  }

  private sendGrpc(client: grpc.Client, batch: readonly OtlpSpan[]): Promise<void> {
    const bytes = Buffer.from(encodeExportRequest(batch, SPAN_RESOURCE));
    const raw = (value: Buffer): Buffer => value;
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(EXPORT, raw, raw, bytes, { deadline: Date.now() + TIMEOUT_MS }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }

  private sendHttp(target: string, batch: readonly OtlpSpan[]): Promise<void> {
    const json = target.endsWith("?json");
    const body = json ? JSON.stringify(exportRequest(batch)) : Buffer.from(encodeExportRequest(batch, SPAN_RESOURCE));
    const url = new URL("/v1/traces", target);
    return new Promise((resolve, reject) => {
      const headers = { "content-type": json ? "application/json" : "application/x-protobuf" };
      const request = http.request(url, { method: "POST", timeout: TIMEOUT_MS, headers }, (response) => {
        response.resume();
        response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`))));
      });
      request.on("timeout", () => request.destroy(new Error("timeout")));
      request.on("error", reject);
      request.end(body);
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
    this.client?.close();
  }
}
