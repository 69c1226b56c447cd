import type { RequestView } from "../../schemas/requests.js";

/** One request with what the client and what the server saw of it; at least one of the two. */
export interface JoinedRequest {
  readonly client: RequestView | null;
  readonly server: RequestView | null;
}

/**
 * Joins views on `join_id`. An id that one side used several times (a retry, several choices of one answer) is paired in order of time:
 * choices of one answer that the same server ran at the same time are one request, later repetitions are requests of their own.
 */
export function joinViews(views: readonly RequestView[]): JoinedRequest[] {
  const groups = new Map<string, { client: RequestView[]; server: RequestView[] }>();
  for (const view of views) {
    const group = groups.get(view.join_id) ?? { client: [], server: [] };
    groups.set(view.join_id, group);
    group[view.view].push(view);
  }
  const joined: JoinedRequest[] = [];
  for (const { client, server } of groups.values()) {
    const clients = client.sort(byTime);
    const servers = mergeChoices(server.sort(byTime));
    for (let i = 0; i < Math.max(clients.length, servers.length); i++) {
      joined.push({ client: clients[i] ?? null, server: servers[i] ?? null });
    }
  }
  return joined;
}

const byTime = (a: RequestView, b: RequestView): number => a.start_us - b.start_us || (a.request_id < b.request_id ? -1 : 1);

/** Choices of one answer overlap in time and differ in their ids: the request is over when the last one is. */
function mergeChoices(sorted: readonly RequestView[]): RequestView[] {
  const merged: RequestView[] = [];
  for (const view of sorted) {
    const last = merged.at(-1);
    if (!last || last.request_id === view.request_id || (last.end_us !== null && view.start_us > last.end_us)) {
      merged.push(view);
      continue;
    }
    merged[merged.length - 1] = {
      ...last,
      first_token_us: earlier(last.first_token_us, view.first_token_us),
      ttft_ms: earlier(last.ttft_ms, view.ttft_ms),
      end_us: last.end_us === null || view.end_us === null ? null : Math.max(last.end_us, view.end_us),
      e2e_ms: last.e2e_ms === null || view.e2e_ms === null ? null : Math.max(last.e2e_ms, view.e2e_ms),
      decode_ms: last.decode_ms === null || view.decode_ms === null ? null : Math.max(last.decode_ms, view.decode_ms),
      output_tokens: last.output_tokens === null || view.output_tokens === null ? null : last.output_tokens + view.output_tokens,
    };
  }
  return merged;
}

const earlier = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b));
