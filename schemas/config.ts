import { z } from "zod";
import { type AgentConfig, DEFAULT_AGENT_CONFIG, type ListenAddress } from "./agent-config.js";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MS_TEXT = (ms: number): string => (ms >= 1000 ? `${ms / 1000}s` : `${ms}ms`);

/** A duration with its unit (`250ms`, `1s`, `5m`, `1h`), read as milliseconds within the bounds. */
const duration = (minMs: number, maxMs: number) =>
  z.unknown().transform((value, ctx): number => {
    const match = typeof value === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value.trim()) : null;
    if (!match) {
      ctx.addIssue({ code: "custom", message: `${JSON.stringify(value)} is no duration; write a number with its unit, e.g. 1s or 250ms` });
      return z.NEVER;
    }
    const ms = Number(match[1]) * UNIT_MS[match[2]!]!;
    if (ms < minMs || ms > maxMs) {
      ctx.addIssue({ code: "custom", message: `${value as string} is outside of ${MS_TEXT(minMs)} to ${MS_TEXT(maxMs)}` });
      return z.NEVER;
    }
    return ms;
  });

const listen = z.unknown().transform((value, ctx): ListenAddress => {
  if (value === "off" || value === false) return null;
  const match = typeof value === "string" ? /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(value.trim()) : null;
  const port = Number(match?.[3]);
  if (!match || port > 65_535) {
    ctx.addIssue({ code: "custom", message: `${JSON.stringify(value)} is no address; write HOST:PORT, e.g. 127.0.0.1:9477, or off` });
    return z.NEVER;
  }
  return { host: (match[1] ?? match[2])!, port };
});

const httpUrl = z.string().refine(
  (text) => {
    try {
      return ["http:", "https:"].includes(new URL(text).protocol);
    } catch {
      return false;
    }
  },
  { error: (issue) => `${JSON.stringify(issue.input)} is no http:// or https:// address` },
);
const baseUrl = httpUrl.transform((text) => text.replace(/\/+$/, ""));

const collector = z.strictObject({
  enabled: z.boolean().optional(),
  interval: duration(50, 3_600_000).optional(),
  timeout: duration(10, 300_000).optional(),
  url: baseUrl.optional(),
});

const server = z.strictObject({
  name: z.string().min(1),
  url: baseUrl,
  metrics_path: z.string().startsWith("/", { error: "must start with /" }).optional(),
  engine: z.string().min(1).optional(),
  pids: z.array(z.number().int().positive()).optional(),
});

/** What the agent's configuration file may hold. `collectorNames` are the names that `collectors` may have; unknown keys are errors. */
export function agentConfigSchema(collectorNames: readonly string[]) {
  const defaults = DEFAULT_AGENT_CONFIG;
  return z
    .strictObject({
      node: z.string().min(1).optional(),
      db: z.string().min(1).optional(),
      listen: z.strictObject({ http: listen.optional(), otlp_grpc: listen.optional(), otlp_http: listen.optional() }).optional(),
      collectors: z.strictObject(Object.fromEntries(collectorNames.map((name) => [name, collector.optional()]))).optional(),
      servers: z
        .array(server)
        .superRefine((list, ctx) => {
          list.forEach((one, i) => {
            if (list.findIndex((other) => other.name === one.name) < i)
              ctx.addIssue({ code: "custom", path: [i, "name"], message: `there are two servers named "${one.name}"` });
          });
        })
        .optional(),
      host: z.strictObject({ proc_root: z.string().min(1).optional(), sys_root: z.string().min(1).optional() }).optional(),
      store: z.strictObject({ flush_interval: duration(50, 60_000).optional() }).optional(),
      log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error", "silent"]).optional() }).optional(),
    })
    .transform(
      (file): AgentConfig => ({
        node: file.node ?? defaults.node,
        db: file.db ?? defaults.db,
        listen: {
          http: given(file.listen?.http, defaults.listen.http),
          otlp_grpc: given(file.listen?.otlp_grpc, defaults.listen.otlp_grpc),
          otlp_http: given(file.listen?.otlp_http, defaults.listen.otlp_http),
        },
        collectors: Object.fromEntries(
          Object.entries(file.collectors ?? {}).flatMap(([name, one]) =>
            one ? [[name, { enabled: one.enabled, interval_ms: one.interval, timeout_ms: one.timeout, url: one.url }]] : [],
          ),
        ),
        servers:
          file.servers?.map((one) => ({
            name: one.name,
            url: one.url,
            metrics_path: one.metrics_path ?? "/metrics",
            engine: one.engine ?? null,
            pids: one.pids ?? [],
          })) ?? defaults.servers,
        host: { proc_root: file.host?.proc_root ?? defaults.host.proc_root, sys_root: file.host?.sys_root ?? defaults.host.sys_root },
        store: { flush_interval_ms: file.store?.flush_interval ?? defaults.store.flush_interval_ms },
        log: { level: file.log?.level ?? defaults.log.level },
      }),
    );
}

/** Null is a value of its own here: `off`. */
const given = (value: ListenAddress | undefined, otherwise: ListenAddress): ListenAddress => (value === undefined ? otherwise : value);
