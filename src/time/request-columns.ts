import type { ClockAlignment } from "../../schemas/diagnosis-input.js";
import { REQUEST_STATUSES, type RequestColumns, type RequestView } from "../../schemas/requests.js";
import type { Telemetry } from "../../schemas/telemetry.js";
import { estimateActivityOffset, isOffsetBeyondDoubt } from "./activity-offset.js";
import { estimateClockOffset } from "./clock-offset.js";
import { type JoinedRequest, joinViews } from "./join-views.js";

const orNaN = (v: number | null | undefined): number => v ?? Number.NaN;

/**
 * Joins the views of all observers, brings the client's stamps onto the server's axis and gives columns sorted by arrival.
 * With no request seen from both sides, the client's and the server's activity are correlated where there is telemetry; failing that,
 * the client's clock is taken as it is (`method: "none"`).
 */
export function toRequestColumns(
  views: readonly RequestView[],
  telemetry?: Telemetry,
): { requests: RequestColumns; clock: ClockAlignment } {
  const joined = joinViews(views);
  const paired = alignClocks(joined);
  const clock = paired.method === "none" && telemetry ? (alignByActivity(joined, telemetry) ?? paired) : paired;
  const shiftUs = Math.round((clock.offset_ms ?? 0) * 1000);
  const rows = joined.map((r) => placeOnAxis(r, shiftUs)).sort((a, b) => a.arrival - b.arrival || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return { requests: columnsOf(rows), clock };
}

function alignClocks(joined: readonly JoinedRequest[]): ClockAlignment {
  const pairs = joined.flatMap(({ client, server }) =>
    client && server
      ? [
          {
            client_sent_us: client.start_us,
            server_arrival_us: server.start_us,
            client_first_token_us: orNaN(client.first_token_us),
            server_first_token_us: orNaN(server.first_token_us),
            client_end_us: orNaN(client.end_us),
            server_end_us: orNaN(server.end_us),
          },
        ]
      : [],
  );
  const offset = estimateClockOffset(pairs);
  if (offset) {
    const bound = Number.isFinite(offset.uncertainty_ms) ? offset.uncertainty_ms : null;
    return { offset_ms: offset.offset_ms, uncertainty_ms: bound, method: "min-delay", joined: pairs.length };
  }
  const onlyServer = joined.length > 0 && joined.every((r) => r.client === null);
  return { offset_ms: null, uncertainty_ms: null, method: onlyServer ? "server-clock" : "none", joined: pairs.length };
}

function alignByActivity(joined: readonly JoinedRequest[], telemetry: Telemetry): ClockAlignment | null {
  const done = joined.flatMap(({ client }) => (client && client.end_us !== null ? [client] : []));
  const sent_us = Float64Array.from(done, (c) => c.start_us).sort();
  const end_us = Float64Array.from(done, (c) => c.end_us!).sort();
  const found = estimateActivityOffset({ sent_us, end_us }, telemetry);
  if (!found) return null;
  if (!isOffsetBeyondDoubt(found))
    return { offset_ms: 0, uncertainty_ms: Math.abs(found.offset_ms) + found.uncertainty_ms, method: "activity-agrees", joined: 0 };
  return { offset_ms: found.offset_ms, uncertainty_ms: found.uncertainty_ms, method: "activity", joined: 0 };
}

interface Row {
  readonly id: string;
  readonly joined: JoinedRequest;
  readonly shiftUs: number;
  readonly sent: number;
  readonly arrival: number;
}

function placeOnAxis(joined: JoinedRequest, shiftUs: number): Row {
  const { client, server } = joined;
  const sent = client ? client.start_us + shiftUs : server!.start_us;
  // A request cannot arrive before it was sent; rounding of the two clocks may say so by some µs.
  const arrival = server ? Math.max(server.start_us, client ? Math.min(sent, server.start_us) : server.start_us) : sent;
  return { id: (client ?? server)!.request_id, joined, shiftUs, sent, arrival };
}

class Dictionary<T> {
  readonly values: T[] = [];
  readonly #index = new Map<string, number>();
  add(key: string, value: T): number {
    let at = this.#index.get(key);
    if (at === undefined) {
      at = this.values.push(value) - 1;
      this.#index.set(key, at);
    }
    return at;
  }
}

const serverKey = (s: Readonly<Record<string, string>>): string =>
  Object.keys(s)
    .sort()
    .map((k) => `${k}=${s[k]}`)
    .join("\u0000");

function columnsOf(rows: readonly Row[]): RequestColumns {
  const n = rows.length;
  const servers = new Dictionary<Readonly<Record<string, string>>>();
  const models = new Dictionary<string>();
  const routes = new Dictionary<string>();
  const float = (f: (row: Row) => number): Float64Array => Float64Array.from(rows, f);
  const index = (f: (row: Row) => number): Int32Array => Int32Array.from(rows, f);
  const either = (f: (view: RequestView) => number | null, first: "client" | "server") =>
    float(({ joined: { client, server } }) => {
      const [a, b] = first === "client" ? [client, server] : [server, client];
      return orNaN((a && f(a)) ?? (b && f(b)));
    });
  const stamp = (f: (view: RequestView) => number | null) =>
    float(({ joined: { client, server }, shiftUs }) => {
      const seen = client ? f(client) : null;
      return seen !== null ? seen + shiftUs : orNaN(server && f(server));
    });
  const gapRows = rows.map(({ joined: { client, server } }) => client?.gaps_ms ?? server?.gaps_ms ?? null);
  const gap_offset = new Uint32Array(n + 1);
  for (let i = 0; i < n; i++) gap_offset[i + 1] = gap_offset[i]! + (gapRows[i]?.length ?? 0);
  const gap_ms = new Float32Array(gap_offset[n]!);
  gapRows.forEach((g, i) => {
    if (g) gap_ms.set(g, gap_offset[i]!);
  });
  return {
    n,
    request_id: rows.map((r) => r.id),
    server: index(({ joined: { client, server } }) => {
      const labels = server && Object.keys(server.server).length > 0 ? server.server : client?.server;
      return labels && Object.keys(labels).length > 0 ? servers.add(serverKey(labels), labels) : -1;
    }),
    servers: servers.values,
    model: index(({ joined: { client, server } }) => {
      const name = server?.model ?? client?.model;
      return name ? models.add(name, name) : -1;
    }),
    models: models.values,
    route: index(({ joined: { client, server } }) => {
      const name = client?.route ?? server?.route;
      return name ? routes.add(name, name) : -1;
    }),
    routes: routes.values,
    scheduled_us: float(({ joined: { client }, shiftUs }) => (client?.scheduled_us == null ? Number.NaN : client.scheduled_us + shiftUs)),
    sent_us: float((r) => r.sent),
    arrival_us: float((r) => r.arrival),
    first_token_us: stamp((v) => v.first_token_us),
    end_us: stamp((v) => v.end_us),
    ttft_ms: either((v) => v.ttft_ms, "client"),
    e2e_ms: either((v) => v.e2e_ms, "client"),
    server_ttft_ms: float(({ joined: { server } }) => orNaN(server?.ttft_ms)),
    tokenize_ms: either((v) => v.tokenize_ms, "server"),
    queue_ms: either((v) => v.queue_ms, "server"),
    prefill_ms: either((v) => v.prefill_ms, "server"),
    decode_ms: either((v) => v.decode_ms, "server"),
    transfer_ms: either((v) => v.transfer_ms, "server"),
    input_tokens: either((v) => v.input_tokens, "server"),
    output_tokens: either((v) => v.output_tokens, "server"),
    cached_tokens: either((v) => v.cached_tokens, "server"),
    max_tokens: either((v) => v.max_tokens, "server"),
    status: Uint8Array.from(rows, ({ joined: { client, server } }) => REQUEST_STATUSES.indexOf((client ?? server)!.status)),
    warmup: Uint8Array.from(rows, ({ joined: { client, server } }) => ((client ?? server)!.warmup ? 1 : 0)),
    seen_by: Uint8Array.from(rows, ({ joined: { client, server } }) => (client ? 1 : 0) | (server ? 2 : 0)),
    gap_offset,
    gap_ms,
  };
}
