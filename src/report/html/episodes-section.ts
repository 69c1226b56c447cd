import type { Episode, Report } from "../../../schemas/report.js";
import { count, milliseconds, percent, plural } from "../number-text.js";
import { CLASS_TEXT, METRIC_TEXT } from "../wording.js";
import { classIcon } from "./class-mark.js";
import { episodeArticle } from "./episode-article.js";
import { type Html, html } from "./html-text.js";
import { betweenMs, clockText } from "./time-text.js";

/** Episodes that the page lists; the rest is counted and is in the JSON. */
export const MAX_LISTED = 500;
/** Episodes whose article is written into the page, so that it is there in print and without script. */
export const MAX_ARTICLES = 25;

export interface NumberedEpisode {
  readonly number: number;
  readonly episode: Episode;
}

/** The episodes that the page knows: the largest, numbered from 1 in the order of the report. */
export const listedEpisodes = (report: Report): NumberedEpisode[] =>
  report.episodes
    .map((episode, i) => ({ number: i + 1, episode }))
    .sort((a, b) => b.episode.excess_ms - a.episode.excess_ms || a.number - b.number)
    .slice(0, MAX_LISTED)
    .sort((a, b) => a.number - b.number);

/** Those with an article in the page, the largest first. */
export const articleEpisodes = (listed: readonly NumberedEpisode[]): NumberedEpisode[] =>
  [...listed].sort((a, b) => b.episode.excess_ms - a.episode.excess_ms || a.number - b.number).slice(0, MAX_ARTICLES);

export function episodesSection(report: Report, listed: readonly NumberedEpisode[], articles: readonly NumberedEpisode[]): Html {
  if (listed.length === 0)
    return html`<section aria-labelledby="episodes"><h2 id="episodes">Episodes</h2><p>No episode was found.</p></section>`;
  const unlisted = report.episodes.length - listed.length;
  return html`<section aria-labelledby="episodes">
<h2 id="episodes">Episodes</h2>
<div class="scroll list" tabindex="0" role="region" aria-label="List of episodes"><table id="episode-list">
<thead><tr><th scope="col">Episode</th><th scope="col">Start (UTC)</th><th scope="col" class="num">Lasted</th><th scope="col">Slow in</th><th scope="col">Class</th><th scope="col">Cause</th><th scope="col" class="num">Sure</th><th scope="col" class="num">Requests</th><th scope="col" class="num">Excess</th></tr></thead>
<tbody>${listed.map(row)}</tbody></table></div>
${unlisted > 0 && html`<p class="dim">${plural(unlisted, "smaller episode")} not listed: see the JSON report.</p>`}
<p class="dim no-print" id="episode-hint" hidden>Choose an episode here or in the timeline to read its evidence.</p>
<div id="episode-articles" aria-live="polite">${articles.map(({ number, episode }) => episodeArticle(episode, number))}</div>
</section>`;
}

const row = ({ number, episode: e }: NumberedEpisode): Html =>
  html`<tr data-number="${number}"><th scope="row"><a href="#episode-${number}">${number}</a></th><td>${clockText(e.start)}</td><td class="num">${milliseconds(betweenMs(e.start, e.end))}</td><td>${METRIC_TEXT[e.metric]}</td><td>${classIcon(e.class)}${CLASS_TEXT[e.class]}</td><td>${e.cause ?? "-"}</td><td class="num">${e.confidence === null ? "-" : percent(e.confidence)}</td><td class="num">${count(e.requests)}</td><td class="num">${milliseconds(e.excess_ms)}</td></tr>`;
