import type { SourceSpec } from "../../schemas/samples.js";
import type { Sink } from "../../schemas/sink.js";
import { type DecodedExport, OtlpSyntaxError } from "./decoded-span.js";
import { type PartialSuccess, RPC_CODE, type RpcStatus } from "./otlp-answers.js";
import { createSpanIntake } from "./span-intake.js";

export interface ReceiverOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly sink: Sink;
  readonly source: SourceSpec;
  /** False while the store cannot take more: senders are told to come again. */
  accepting?(): boolean;
  readonly limits?: Partial<ReceiverLimits>;
}

export interface ReceiverLimits {
  /** Largest message, inflated, bytes. */
  readonly max_message_bytes: number;
  /** Bodies that may be read at the same time, bytes of all together as far as they have come. */
  readonly max_pending_bytes: number;
  /** What a refused sender is told to wait. */
  readonly retry_s: number;
}

export const DEFAULT_RECEIVER_LIMITS: ReceiverLimits = { max_message_bytes: 64 * 2 ** 20, max_pending_bytes: 256 * 2 ** 20, retry_s: 1 };

/** Plain counts since the start; spans, where the name does not say otherwise. */
export interface ReceiverCounters {
  exports: number;
  /** Became requests. */
  accepted: number;
  /** Were no LLM requests. */
  ignored: number;
  /** Were broken, and the sender was told. */
  rejected: number;
  /** Exports turned away for a later try. */
  refused_exports: number;
  /** Exports that were no OTLP at all. */
  malformed_exports: number;
  /** Exports over the size limit. */
  oversize_exports: number;
}

export interface Receiver {
  /** Throws AppError PORT_IN_USE. */
  start(): Promise<{ readonly port: number }>;
  /** Refuses new exports, lets those that are being read end (for some seconds), closes. Safe to call twice. */
  stop(): Promise<void>;
  readonly counters: Readonly<ReceiverCounters>;
}

export type ExportAnswer =
  | { readonly ok: true; readonly partial: PartialSuccess | null }
  | { readonly ok: false; readonly status: RpcStatus };

export interface ExportHandler {
  readonly counters: ReceiverCounters;
  /** The answer when nothing can be taken now, else null. */
  busy(): ExportAnswer | null;
  take(decode: () => DecodedExport): ExportAnswer;
}

/** What both transports do with one export, so that they cannot differ. */
export function createExportHandler(options: ReceiverOptions, retryS: number): ExportHandler {
  const intake = createSpanIntake(options);
  const counters: ReceiverCounters = {
    exports: 0,
    accepted: 0,
    ignored: 0,
    rejected: 0,
    refused_exports: 0,
    malformed_exports: 0,
    oversize_exports: 0,
  };
  return {
    counters,
    busy() {
      if (options.accepting?.() ?? true) return null;
      counters.refused_exports++;
      return { ok: false, status: { code: RPC_CODE.UNAVAILABLE, message: "the store cannot take more now", retry_s: retryS } };
    },
    take(decode) {
      let decoded: DecodedExport;
      try {
        decoded = decode();
      } catch (error) {
        if (!(error instanceof OtlpSyntaxError)) throw error;
        counters.malformed_exports++;
        return { ok: false, status: { code: RPC_CODE.INVALID_ARGUMENT, message: error.message, retry_s: null } };
      }
      counters.exports++;
      const rejected = intake.take(decoded);
      const counts = intake.counts();
      counters.accepted = counts.requests;
      counters.ignored = counts.ignored;
      counters.rejected = counts.rejected;
      return { ok: true, partial: partialSuccess(rejected) };
    },
  };
}

function partialSuccess(rejected: Readonly<Record<string, number>>): PartialSuccess | null {
  const reasons = Object.entries(rejected).sort(([a], [b]) => (a < b ? -1 : 1));
  if (reasons.length === 0) return null;
  return {
    rejected: reasons.reduce((sum, [, count]) => sum + count, 0),
    message: `refused spans: ${reasons.map(([reason, count]) => `${reason} ${count}`).join(", ")}`,
  };
}
