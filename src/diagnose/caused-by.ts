import type { VerdictClass } from "../../schemas/index.js";
import type { EpisodeContext } from "./episode-context.js";
import { rowsNear } from "./group-requests.js";

const MOST = 3;
const LEAST_SHARE = 0.05;

/** Whose prompts (compute) or whose resident tokens (memory) filled the window, with their shares; the largest first. */
export const causedBy = (ctx: EpisodeContext, verdict: VerdictClass): { what: string; share: number }[] => {
  if (verdict !== "compute" && verdict !== "bandwidth" && verdict !== "kv_cache") return [];
  const { q, incident, all } = ctx;
  const routes = new Map<string, number>();
  const rows: { id: string; amount: number }[] = [];
  let total = 0;
  const [first, after] = rowsNear(q, incident.from, incident.to);
  for (let i = first; i < after; i++) {
    const amount = verdict === "compute" ? promptIn(ctx, i) : residenceIn(ctx, i);
    if (!(amount > 0)) continue;
    total += amount;
    const route = all.route[q.row[i]!]!;
    if (route >= 0) routes.set(all.routes[route]!, (routes.get(all.routes[route]!) ?? 0) + amount);
    rows.push({ id: all.request_id[q.row[i]!]!, amount });
  }
  if (!(total > 0) || incident.rows.length === 0) return [];
  const what = verdict === "compute" ? "prompt tokens" : "resident tokens";
  const out = rows
    .sort((a, b) => b.amount - a.amount || (a.id < b.id ? -1 : 1))
    .slice(0, MOST)
    .map((r) => ({ what: `request ${r.id}: ${what}`, share: round(r.amount / total) }));
  const byRoute = [...routes.entries()]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, MOST)
    .map(([route, amount]) => ({ what: `route ${route}: ${what}`, share: round(amount / total) }));
  return [...out, ...(routes.size > 1 ? byRoute : [])].filter((x) => x.share >= LEAST_SHARE);
};

const round = (x: number): number => Math.round(x * 1e4) / 1e4;

/** Prompt tokens of a request whose wait for the first token meets the incident. */
const promptIn = (ctx: EpisodeContext, i: number): number =>
  ctx.q.first[i]! >= ctx.incident.from && ctx.q.arrival[i]! <= ctx.incident.to ? ctx.q.uncached[i]! : 0;

/** Context tokens times the time they were resident inside of the incident. */
const residenceIn = (ctx: EpisodeContext, i: number): number => {
  const overlap = Math.min(ctx.q.end[i]!, ctx.incident.to) - Math.max(ctx.q.first[i]!, ctx.incident.from);
  return overlap > 0 ? overlap * (ctx.q.input[i]! + ctx.q.output[i]! / 2) : 0;
};
