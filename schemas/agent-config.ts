/** Where to listen; null = off. Port 0 = any free port. */
export type ListenAddress = { readonly host: string; readonly port: number } | null;

export interface CollectorSettings {
  /** Absent: on when its source is found. */
  readonly enabled?: boolean | undefined;
  readonly interval_ms?: number | undefined;
  readonly timeout_ms?: number | undefined;
  /** Base URL of its target, for collectors that read over HTTP. */
  readonly url?: string | undefined;
}

export interface ServerSettings {
  readonly name: string;
  readonly url: string;
  readonly metrics_path: string;
  readonly engine: string | null;
  readonly pids: readonly number[];
}

/** The agent's configuration, complete. What may stand in the file: `schemas/config.ts`. */
export interface AgentConfig {
  /** Null: the host's name. */
  readonly node: string | null;
  /** Null: the command line's or the user's default. */
  readonly db: string | null;
  readonly listen: { readonly http: ListenAddress; readonly otlp_grpc: ListenAddress; readonly otlp_http: ListenAddress };
  readonly collectors: Readonly<Record<string, CollectorSettings>>;
  /** Null: found by looking at the usual ports. */
  readonly servers: readonly ServerSettings[] | null;
  readonly host: { readonly proc_root: string; readonly sys_root: string };
  readonly store: { readonly flush_interval_ms: number };
  readonly log: { readonly level: "debug" | "info" | "warn" | "error" | "silent" };
}

/** What holds where the file says nothing, and all of it without a file. */
export const DEFAULT_AGENT_CONFIG: AgentConfig = {
  node: null,
  db: null,
  listen: {
    http: { host: "127.0.0.1", port: 9477 },
    otlp_grpc: { host: "127.0.0.1", port: 4317 },
    otlp_http: { host: "127.0.0.1", port: 4318 },
  },
  collectors: {},
  servers: null,
  host: { proc_root: "/proc", sys_root: "/sys" },
  store: { flush_interval_ms: 1000 },
  log: { level: "info" },
};
