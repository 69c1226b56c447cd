/** Stamps of one request by both observers, µs, each on its own clock. */
export interface PairedStamps {
  readonly client_sent_us: number;
  readonly server_arrival_us: number;
  /** NaN when not seen. */
  readonly client_first_token_us: number;
  readonly server_first_token_us: number;
  readonly client_end_us: number;
  readonly server_end_us: number;
}

export interface ClockOffset {
  /** To be added to the client's stamps, ms. */
  readonly offset_ms: number;
  /** Width of the interval in which the true offset must lie by causality, ms; Infinity when only one side is bounded. */
  readonly uncertainty_ms: number;
  readonly pairs: number;
}

/** Below this many pairs one cold request could carry the estimate. */
const MIN_PAIRS = 5;

/**
 * Offset between a client's and a server's clock from requests that both saw. A request arrives after it was sent, and its first token is
 * seen by the client after the server had it, so `max(server_token - client_token) <= offset <= min(arrival - sent)`. The minimum over many
 * requests is the estimate (as NTP keeps its least-delay sample): it holds the true offset plus the shortest one-way delay, so after
 * alignment nothing arrives before it was sent. Null with fewer than five pairs.
 */
export function estimateClockOffset(pairs: readonly PairedStamps[]): ClockOffset | null {
  if (pairs.length < MIN_PAIRS) return null;
  let upper = Number.POSITIVE_INFINITY;
  let lower = Number.NEGATIVE_INFINITY;
  for (const p of pairs) {
    upper = Math.min(upper, p.server_arrival_us - p.client_sent_us);
    const token = p.server_first_token_us - p.client_first_token_us;
    const end = p.server_end_us - p.client_end_us;
    if (token > lower) lower = token;
    if (end > lower) lower = end;
  }
  return { offset_ms: upper / 1000, uncertainty_ms: Math.max(0, upper - lower) / 1000, pairs: pairs.length };
}
