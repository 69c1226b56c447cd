import type { Metric, Phase, Reason, VerdictClass } from "../../schemas/report.js";

/** How classes, metrics and reasons are called before people; the JSON keeps the identifiers. */
export const CLASS_TEXT: Readonly<Record<VerdictClass, string>> = {
  compute: "compute",
  bandwidth: "memory bandwidth",
  kv_cache: "KV cache",
  cpu_tokenization: "CPU (tokenization, serving)",
  communication: "communication",
  indeterminate: "indeterminate",
};

export const METRIC_TEXT: Readonly<Record<Metric, string>> = { ttft: "TTFT", itl: "ITL", tpot: "TPOT", e2e: "E2E", queue: "queue" };

export const PHASE_TEXT: Readonly<Record<Phase, string>> = {
  client_lag: "client lag",
  network: "network",
  gateway: "gateway",
  upstream: "upstream",
  tokenize: "tokenize",
  ingress: "before the engine",
  queue: "queue",
  prefill: "prefill",
  transfer: "KV transfer",
  decode: "decode",
  stall: "stalls",
  unattributed: "unattributed",
};

export const REASON_TEXT: Readonly<Record<Reason, string>> = {
  WARMUP: "the server was warming up",
  NO_TELEMETRY: "no telemetry covers it",
  CLOCK_UNCERTAIN: "the clocks of requests and telemetry cannot be aligned well enough",
  LOW_COVERAGE: "samples are too sparse for its length",
  CLIENT_SIDE: "the delay arose outside of the node, at the client or on its network",
  SHARED_GPU: "another tenant used the GPU",
  AMBIGUOUS_SERVER: "several servers run here and the requests do not say which one they used",
  UNMEASURED_RIVAL: "a likely rival cause was not measured",
  TIE: "two causes explain it about equally well",
  NO_CLASS_SUPPORT: "no resource shows enough evidence",
};
