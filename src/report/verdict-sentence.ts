import type { Episode, Report, VerdictClass } from "../../schemas/report.js";
import { count, milliseconds, percent, plural } from "./number-text.js";
import { CLASS_TEXT, REASON_TEXT } from "./wording.js";

/** Excess time of the episodes by class, the largest first. */
export function excessByClass(report: Report): { class: VerdictClass; excess_ms: number; episodes: number }[] {
  const sums = new Map<VerdictClass, { excess_ms: number; episodes: number }>();
  for (const e of report.episodes) {
    const sum = sums.get(e.class) ?? { excess_ms: 0, episodes: 0 };
    sums.set(e.class, { excess_ms: sum.excess_ms + e.excess_ms, episodes: sum.episodes + 1 });
  }
  return [...sums].map(([c, sum]) => ({ class: c, ...sum })).sort((a, b) => b.excess_ms - a.excess_ms);
}

/** Requests with at least one spike. */
export const slowRequests = (report: Report): number => new Set(report.spikes.map((s) => s.request_id)).size;

/** The answer in one or two sentences: how much was slow, and of what. */
export function verdictSentence(report: Report): string {
  if (report.episodes.length === 0) return quiet(report);
  const classes = excessByClass(report);
  const total = classes.reduce((sum, c) => sum + c.excess_ms, 0);
  const slow = slowRequests(report);
  const extent =
    slow > 0
      ? `${plural(slow, "slow request")} of ${count(report.data.requests)} in ${plural(report.episodes.length, "episode")}, ${milliseconds(total)} of excess.`
      : `${plural(report.episodes.length, "episode")} seen in telemetry alone.`;
  const parts = classes.map((c) => `${CLASS_TEXT[c.class]}${classes.length > 1 && total > 0 ? ` ${percent(c.excess_ms / total)}` : ""}`);
  return `${extent} Cause: ${parts.join(", ")}.`;
}

function quiet(report: Report): string {
  if (report.data.requests === 0) return "No requests and no episode in telemetry: nothing to judge.";
  const { class: c, confidence } = report.summary.bottleneck;
  const rest =
    c && c !== "indeterminate"
      ? ` Over the whole run the limiting resource was ${CLASS_TEXT[c]}${confidence === null ? "" : ` (${percent(confidence)})`}.`
      : "";
  return `No latency spike in ${plural(report.data.requests, "request")}.${rest}`;
}

/** What one episode is, in a phrase: class, cause and how sure, or why not. */
export function episodePhrase(e: Episode): string {
  if (e.class === "indeterminate" && e.kind === "other") return `outside the five resources: ${e.cause ?? "known cause"}${sure(e)}`;
  if (e.class === "indeterminate") return `indeterminate: ${e.reason ? REASON_TEXT[e.reason] : "no cause found"}`;
  return `${CLASS_TEXT[e.class]}${e.cause ? ` / ${e.cause}` : ""}${sure(e)}`;
}

const sure = (e: Episode): string => (e.confidence === null ? "" : `, ${percent(e.confidence)} sure${e.band ? ` (${e.band})` : ""}`);

/** Remedies with the milliseconds that they address, the same advice once, the largest first. */
export function remedies(report: Report): { text: string; addresses_ms: number; class: VerdictClass }[] {
  const sums = new Map<string, { text: string; addresses_ms: number; class: VerdictClass }>();
  for (const e of report.episodes) {
    if (!e.remedy) continue;
    const had = sums.get(e.remedy.text);
    sums.set(e.remedy.text, { text: e.remedy.text, addresses_ms: (had?.addresses_ms ?? 0) + e.remedy.addresses_ms, class: e.class });
  }
  return [...sums.values()].sort((a, b) => b.addresses_ms - a.addresses_ms);
}
