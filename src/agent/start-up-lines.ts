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

/** One line a server; one that says where was looked when there is none. */
export function serverLines(servers: readonly ServerTarget[], configured: boolean): string[] {
  if (servers.length === 0)
    return [
      row(
        "missing",
        "inference server",
        "none on the usual ports of 127.0.0.1; start it with its metrics on, or name it under `servers` in the configuration",
      ),
    ];
  return servers.map((one) =>
    row(configured ? "given" : "found", one.name, `${one.url}${one.metrics_path}${one.engine ? ` (${one.engine})` : ""}`),
  );
}

/** One line a service. */
export const listenLines = (url: string | null, otlp: { readonly grpc: string | null; readonly http: string | null }): string[] => [
  row(url ? "serves" : "off", "http", url ? `${url}/metrics` : ""),
  row(otlp.grpc ? "receives" : "off", "OTLP/gRPC", otlp.grpc ?? ""),
  row(otlp.http ? "receives" : "off", "OTLP/HTTP", otlp.http ? `http://${otlp.http}/v1/traces` : ""),
];
