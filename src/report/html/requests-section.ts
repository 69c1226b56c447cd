import type { Report, Spike } from "../../../schemas/report.js";
import { milliseconds, percent } from "../number-text.js";
import { CLASS_TEXT, METRIC_TEXT } from "../wording.js";
import { CLASS_ORDER, classIcon } from "./class-mark.js";
import { type Html, html } from "./html-text.js";
import { clockText } from "./time-text.js";

/** Written into the page for print and for readers without script; the script replaces them by all rows. */
const STATIC_ROWS = 30;

export const REQUEST_HEADS = [
  ["request", "Request", ""],
  ["at", "Arrived (UTC)", ""],
  ["metric", "Slow in", ""],
  ["observed", "Observed", "num"],
  ["expected", "Expected", "num"],
  ["excess", "Excess", "num"],
  ["class", "Class / cause", ""],
  ["ttft", "TTFT", "num"],
  ["gap", "Worst gap", "num"],
  ["e2e", "E2E", "num"],
  ["input", "Tokens in", "num"],
  ["output", "out", "num"],
  ["episode", "Episode", "num"],
] as const;

/** The table of slow requests: its frame and its first rows. */
export function requestsSection(report: Report): Html {
  const worst = [...report.spikes].sort((a, b) => b.excess_ms - a.excess_ms).slice(0, STATIC_ROWS);
  const numbers = new Map(report.episodes.map((e, i) => [e.id, i + 1]));
  return html`<section aria-labelledby="requests">
<h2 id="requests">Slow requests</h2>
<form class="tools no-print" id="request-tools" role="search" hidden><label>Search <input type="search" id="request-search" placeholder="id, cause, metric, #episode" autocomplete="off" spellcheck="false"></label><label>Class <select id="request-class"><option value="">all</option>${CLASS_ORDER.map((c) => html`<option value="${c}">${CLASS_TEXT[c]}</option>`)}<option value="none">without a spike</option></select></label><label><input type="checkbox" id="request-in-view"> only what the timeline shows</label></form>
<p class="dim" id="request-count" role="status">${worst.length > 0 ? `The ${worst.length} largest of ${report.spikes.length} spikes.` : "No request was slow for its kind."}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Table of slow requests"><table id="request-table">
<thead><tr>${REQUEST_HEADS.map(([key, title, kind]) => html`<th scope="col" data-key="${key}"${kind && html` class="${kind}"`}>${title}</th>`)}</tr></thead>
<tbody>${worst.map((s) => staticRow(s, numbers.get(s.episode ?? "") ?? null))}</tbody></table></div>
<div class="tools pages no-print" id="request-pages" hidden><button type="button" id="page-before">Previous</button><span id="page-says"></span><button type="button" id="page-next">Next</button></div>
</section>`;
}

const staticRow = (s: Spike, episode: number | null): Html =>
  html`<tr><th scope="row">${s.request_id}</th><td>${clockText(s.start)}</td><td>${METRIC_TEXT[s.metric]}</td><td class="num">${milliseconds(s.observed_ms)}</td><td class="num">${milliseconds(s.expected_ms)}</td><td class="num">${milliseconds(s.excess_ms)}</td><td>${classIcon(s.class)}${CLASS_TEXT[s.class]}${s.cause && html` / ${s.cause}`}${s.confidence !== null && html` <span class="dim">${percent(s.confidence)}</span>`}</td><td class="num">-</td><td class="num">-</td><td class="num">-</td><td class="num">-</td><td class="num">-</td><td class="num">${episode ?? "-"}</td></tr>`;
