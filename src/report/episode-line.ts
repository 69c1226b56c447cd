import type { Episode } from "../../schemas/report.js";
import { milliseconds, plural } from "./number-text.js";
import { episodePhrase } from "./verdict-sentence.js";
import { METRIC_TEXT } from "./wording.js";

/** An episode in one line, for a log: what was slow, when, by how much, and why. */
export function episodeLine(e: Episode): string {
  const when = `${e.start.slice(11, 19)} to ${e.end.slice(11, 19)} UTC`;
  const who = e.server ? ` on ${e.server}` : "";
  const what = e.requests > 0 ? `${METRIC_TEXT[e.metric]} of ${plural(e.requests, "request")}` : METRIC_TEXT[e.metric];
  return `slow${who}, ${when}: ${what}, ${milliseconds(e.excess_ms)} lost; ${episodePhrase(e)}`;
}
