import type { Report } from "../../schemas/report.js";
import { milliseconds, percent, plural } from "./number-text.js";
import { episodePhrase, remedies, verdictSentence } from "./verdict-sentence.js";
import { METRIC_TEXT } from "./wording.js";

/** The report for an incident channel: at most 15 lines of Markdown. */
export function markdownReport(report: Report): string {
  const { run, data, summary } = report;
  const lines = [
    `**whyslow** \`${run.id.replaceAll("`", "'")}\`${run.start && run.end ? `, ${run.start.slice(0, 19)}Z to ${run.end.slice(11, 19)}Z` : ""}`,
    "",
    `**${escapeMarkdown(verdictSentence(report))}**`,
  ];
  const worst = [...report.episodes].sort((a, b) => b.excess_ms - a.excess_ms);
  for (const e of worst.slice(0, 4)) {
    lines.push(
      `- ${e.start.slice(11, 19)} ${METRIC_TEXT[e.metric]}: ${escapeMarkdown(episodePhrase(e))}; ${plural(e.requests, "request")}, ${milliseconds(e.excess_ms)} of excess`,
    );
  }
  if (worst.length > 4) lines.push(`- and ${plural(worst.length - 4, "smaller episode")}`);
  for (const r of remedies(report).slice(0, 2))
    lines.push(`- **do:** ${escapeMarkdown(r.text)} (addresses ${milliseconds(r.addresses_ms)})`);
  const p = summary.ttft_ms;
  if (p.n > 0)
    lines.push(
      "",
      `TTFT p50 ${milliseconds(p.p50)}, p95 ${p.p95 === null ? "too few" : milliseconds(p.p95)}, p99 ${p.p99 === null ? "too few" : milliseconds(p.p99)} (n ${p.n})`,
    );
  const thin = data.sources.filter((s) => s.coverage < 0.9).map((s) => `${s.source} ${percent(s.coverage)}`);
  const caveats = [
    ...(thin.length > 0 ? [`coverage ${thin.slice(0, 3).join(", ")}`] : []),
    ...data.warnings.slice(0, 2).map((w) => w.text),
  ];
  if (caveats.length > 0) lines.push(`_${escapeMarkdown(caveats.join("; "))}_`);
  return `${lines.slice(0, 15).join("\n")}\n`;
}

const escapeMarkdown = (text: string): string => text.replace(/([\\`*_<>|])/g, "\\$1");
