import { asNumber, asObject } from "../exact-json.js";

/** Requests that left this much of their latency late, or this share of the asked rate: the load generator was the limit. */
const DELAY_SHARE = 0.1;
const RATE_SHARE = 0.9;

/** Why the load generator, not the server, was the limit, in its own figures; null when it kept up or does not say. */
export function clientLimit(report: Readonly<Record<string, unknown>>): string | null {
  const load = asObject(report.load_summary) ?? {};
  const delay = asNumber(asObject(load.schedule_delay)?.median);
  const latency = asNumber(asObject(asObject(asObject(report.successes)?.latency)?.request_latency)?.median);
  const wanted = asNumber(load.requested_rate);
  const achieved = asNumber(load.achieved_rate);
  const said: string[] = [];
  if (delay !== null && latency !== null && delay > DELAY_SHARE * latency) said.push(`schedule delay p50 ${delay.toFixed(1)} s`);
  if (wanted !== null && achieved !== null && achieved < RATE_SHARE * wanted)
    said.push(`achieved ${achieved.toFixed(1)} of ${wanted.toFixed(1)} requests/s`);
  return said.length === 0 ? null : said.join(", ");
}
