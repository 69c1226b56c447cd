import type { ServerTarget } from "../../schemas/collector.js";
import type { CollectorState } from "./collector-state.js";

const row = (what: string, name: string, text: string): string => `  ${what.padEnd(9)}${name.padEnd(22)} ${text}`.trimEnd();

/** One line a collector: found, missing with how to switch it on, or off. */
export const collectorLines = (states: readonly CollectorState[]): string[] =>
  states.map(({ name, status, detection, intervalMs }) => {
    if (status === "off") return row("off", name, "switched off in the configuration");
    const text = `${detection?.text ?? ""}${detection?.mend ? `; ${detection.mend}` : ""}`;
    if (detection?.found)
      return row("found", name, `${text} (every ${intervalMs >= 1000 ? `${intervalMs / 1000} s` : `${intervalMs} ms`})`);
    return row("missing", name, status === "running" ? `${text}; tried all the same, as configured` : text);
  });

/** One line a server. */
export const serverLines = (servers: readonly ServerTarget[], configured: boolean): string[] =>
  servers.map((one) =>
    row(configured ? "given" : "found", one.name, `${one.url}${one.metrics_path}${one.engine ? ` (${one.engine})` : ""}`),
  );

/** One line a service. */
export const listenLines = (url: string | null, otlp: { readonly grpc: string | null; readonly http: string | null }): string[] => [
  row(url ? "serves" : "off", "http", url ? `${url}/metrics` : ""),
  row(otlp.grpc ? "receives" : "off", "OTLP/gRPC", otlp.grpc ?? ""),
  row(otlp.http ? "receives" : "off", "OTLP/HTTP", otlp.http ? `http://${otlp.http}/v1/traces` : ""),
];
