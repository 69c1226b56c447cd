import { AppError } from "../../schemas/error-codes.js";
import type { Report } from "../../schemas/report.js";
import { milliseconds } from "../report/number-text.js";
import { episodeLines } from "../report/text-episode.js";
import { plain } from "../report/text-layout.js";
import { METRIC_TEXT } from "../report/wording.js";

/** Why one request was slow: its spikes with observed against expected, and the episodes that hold them. Throws USAGE for an id without a spike. */
export function explainRequest(report: Report, requestId: string, width: number): string {
  const spikes = report.spikes.filter((s) => s.request_id === requestId);
  if (spikes.length === 0) {
    throw new AppError("USAGE", `request '${requestId}' has no spike in this report`, {
      mend: "--json lists the ids of all spikes; a request that was not slow has nothing to explain",
    });
  }
  const lines = [`request ${requestId}`];
  for (const s of spikes) {
    lines.push(
      `  ${METRIC_TEXT[s.metric]} ${s.censored ? "at least " : ""}${milliseconds(s.observed_ms)}, expected ${milliseconds(s.expected_ms)}: ${milliseconds(s.excess_ms)} too much`,
    );
  }
  const ids = new Set(spikes.map((s) => s.episode));
  const episodes = report.episodes.filter((e) => ids.has(e.id));
  for (const e of episodes) lines.push("", ...episodeLines(e, report.episodes.indexOf(e) + 1, width, plain));
  return `${lines.join("\n")}\n`;
}
