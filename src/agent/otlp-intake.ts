import type { AgentConfig, ListenAddress } from "../../schemas/agent-config.js";
import type { Sink } from "../../schemas/sink.js";
import type { AgentHealth } from "../export/agent-families.js";
import type { Receiver, ReceiverOptions } from "../intake/receive-export.js";
import { listenError } from "./http-api.js";

/** Senders are told to wait while this many rows wait for the disk. */
const MAX_BUFFERED_ROWS = 100_000;

export interface OtlpIntake {
  /** `HOST:PORT` of each receiver that listens; null: off, or its port is taken. */
  readonly addresses: { readonly grpc: string | null; readonly http: string | null };
  counts(): AgentHealth["otlp"];
  stop(): Promise<void>;
}

export interface OtlpIntakeDeps {
  readonly listen: AgentConfig["listen"];
  readonly node: string;
  readonly sink: Sink & { health(): { readonly bufferedRows: number } };
  /** A port that is taken: the rest of the agent goes on. */
  warn(text: string): void;
}

/** Starts the receivers that the configuration wants. Never rejects. */
export async function startOtlpIntake(deps: OtlpIntakeDeps): Promise<OtlpIntake> {
  const receivers: { protocol: "grpc" | "http"; receiver: Receiver }[] = [];
  const start = async (protocol: "grpc" | "http", listen: ListenAddress): Promise<string | null> => {
    if (listen === null) return null;
    const options: ReceiverOptions = {
      host: listen.host,
      port: listen.port,
      sink: deps.sink,
      source: { name: `otlp-${protocol}`, node: deps.node, run: null, interval_ms: null, window_ms: null, lag_ms: null },
      accepting: () => deps.sink.health().bufferedRows < MAX_BUFFERED_ROWS,
    };
    try {
      const receiver = await create(protocol, options);
      const { port } = await receiver.start();
      receivers.push({ protocol, receiver });
      return `${listen.host.includes(":") ? `[${listen.host}]` : listen.host}:${port}`;
    } catch (error) {
      const { message, mend } = listenError(`OTLP/${protocol === "grpc" ? "gRPC" : "HTTP"}`, listen, rootCause(error));
      deps.warn(`${message}${mend ? `; ${mend}` : ""}; traces are not received there`);
      return null;
    }
  };
  const [grpc, http] = await Promise.all([start("grpc", deps.listen.otlp_grpc), start("http", deps.listen.otlp_http)]);
  return {
    addresses: { grpc, http },
    counts() {
      const spans = { request: 0, ignored: 0, rejected: 0 };
      const refused: { protocol: string; reason: string; count: number }[] = [];
      for (const { protocol, receiver } of receivers) {
        spans.request += receiver.counters.accepted;
        spans.ignored += receiver.counters.ignored;
        spans.rejected += receiver.counters.rejected;
        refused.push({ protocol, reason: "busy", count: receiver.counters.refused_exports });
        refused.push({ protocol, reason: "malformed", count: receiver.counters.malformed_exports });
        refused.push({ protocol, reason: "too_large", count: receiver.counters.oversize_exports });
      }
      return { spans, refused };
    },
    async stop() {
      await Promise.all(receivers.map(({ receiver }) => receiver.stop()));
    },
  };
}

/** Loaded only when wanted: gRPC alone is a tenth of the agent's memory. */
async function create(protocol: "grpc" | "http", options: ReceiverOptions): Promise<Receiver> {
  if (protocol === "grpc") return (await import("../intake/otlp-grpc-receiver.js")).createOtlpGrpcReceiver(options);
  return (await import("../intake/otlp-http-receiver.js")).createOtlpHttpReceiver(options);
}

/** grpc-js says only in words that an address is taken. */
function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  if (cause instanceof Error && cause.message.includes("EADDRINUSE"))
    return Object.assign(new Error(cause.message), { code: "EADDRINUSE" });
  return cause;
}
