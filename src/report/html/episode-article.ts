import type { Episode, Evidence, Phase } from "../../../schemas/report.js";
import { milliseconds, nats, percent, plural, reading } from "../number-text.js";
import { episodePhrase } from "../verdict-sentence.js";
import { CLASS_TEXT, METRIC_TEXT, PHASE_TEXT } from "../wording.js";
import { classIcon } from "./class-mark.js";
import { type Html, html, trusted } from "./html-text.js";
import { betweenMs, clockText } from "./time-text.js";

const MAX_CAUSED_BY = 5;

/** Everything about one episode. The builder writes it into the page; the page's script makes it for episodes beyond those. */
export function episodeArticle(e: Episode, number: number): Html {
  const facts: readonly (readonly [string, Html | string | false | null | undefined])[] = [
    ["When", `${clockText(e.start)} to ${clockText(e.end)} UTC (${milliseconds(betweenMs(e.start, e.end))})`],
    ["Slow in", `${METRIC_TEXT[e.metric]}${e.level_shift ? ", a level shift" : ""}`],
    ["Extent", `${plural(e.requests, "request")}, ${milliseconds(e.excess_ms)} of excess`],
    ["Driver", e.driver],
    ["Server", e.server],
    ["Mixed with", e.mixed],
    ["After", e.after_mark && `${e.after_mark.kind}, ${milliseconds(e.after_mark.before_ms)} before: ${e.after_mark.text}`],
    ["Caused by", e.caused_by.length > 0 && causedBy(e)],
    ["Runner-up", e.runner_up && runnerUp(e.runner_up)],
    ["Basis", basis(e)],
  ];
  return html`<article class="episode c-edge c-${e.class}" id="episode-${number}" aria-labelledby="episode-${number}-title" data-number="${number}">
<h3 id="episode-${number}-title" tabindex="-1">${classIcon(e.class)}<span class="number">${number}</span> ${episodePhrase(e)}</h3>
${e.remedy && html`<p class="remedy"><b>Do:</b> ${e.remedy.text} <span class="gain">addresses ${milliseconds(e.remedy.addresses_ms)}</span></p>`}
<dl class="facts">${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${phases(e)}
${evidence(e)}
${e.measure_next && html`<p><b>Measure next:</b> ${e.measure_next}</p>`}
${e.missing.length > 0 && html`<details><summary>${plural(e.missing.length, "fact")} had no input</summary><p class="names">${e.missing.map((m) => html`<code>${m}</code> `)}</p></details>`}
</article>`;
}

const causedBy = (e: Episode): Html =>
  html`${e.caused_by.slice(0, MAX_CAUSED_BY).map((c, i) => html`${i > 0 && "; "}${c.what} <span class="dim">${percent(c.share)}</span>`)}${e.caused_by.length > MAX_CAUSED_BY && html` <span class="dim">and ${e.caused_by.length - MAX_CAUSED_BY} more</span>`}`;

const runnerUp = (r: NonNullable<Episode["runner_up"]>): Html =>
  html`${classIcon(r.class)}${CLASS_TEXT[r.class]}, ${percent(r.confidence)}. What would separate them: ${r.separated_by}`;

const BASIS = {
  requests: "request records",
  histogram: "the server's latency histograms: no request records cover it",
  telemetry: "telemetry alone: no request records cover it",
} as const;

const basis = (e: Episode): string =>
  `${BASIS[e.basis]}${e.confidence === null ? "" : `; confidence calibrated on ${e.confidence_basis === "simulated" ? "simulated runs" : "recorded runs"}`}`;

/** Where the time was lost, the largest share first. */
function phases(e: Episode): Html | false {
  const shares = (Object.entries(e.phases) as [Phase, number][]).filter(([, s]) => s >= 0.005).sort((a, b) => b[1] - a[1]);
  if (shares.length === 0) return false;
  return html`<div class="phases"><h4>Where the time was lost</h4><ul>${shares.map(
    ([phase, s]) => html`<li><span>${PHASE_TEXT[phase]}</span>${shareBar(s)}<span class="num">${percent(s)}</span></li>`,
  )}</ul></div>`;
}

const shareBar = (s: number): Html =>
  trusted(
    `<svg class="sharebar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${(100 * Math.min(1, s)).toFixed(1)}" height="8"/></svg>`,
  );

function evidence(e: Episode): Html | false {
  if (e.evidence.length === 0) return false;
  const rows = [...e.evidence].sort((a, b) => Math.abs(b.weight_nats) - Math.abs(a.weight_nats));
  const heavy = rows.filter((r) => Math.abs(r.weight_nats) >= WEAK_NATS);
  const weak = rows.slice(heavy.length);
  const toward = e.class === "indeterminate" ? "Evidence towards the leading candidate" : `Evidence for ${CLASS_TEXT[e.class]}`;
  const sum =
    e.prior_nats !== null && e.score_nats !== null && `prior ${nats(e.prior_nats)} and the rows add up to ${nats(e.score_nats)} nats`;
  return html`${heavy.length > 0 && evidenceTable(heavy, toward, sum)}${weak.length > 0 && html`<details><summary>${plural(weak.length, "fact")} measured that hardly ${weak.length === 1 ? "speaks" : "speak"} either way</summary>${evidenceTable(weak, "Facts of little weight", false)}</details>`}`;
}

function evidenceTable(rows: readonly Evidence[], caption: string, sum: string | false): Html {
  const most = Math.max(...rows.map((r) => Math.abs(r.weight_nats)), 0.1);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table class="evidence"><caption>${caption}${sum && html` <span class="dim">${sum}</span>`}</caption>
<thead><tr><th scope="col" class="num">Weight</th><th scope="col">What was seen</th><th scope="col" class="num">Value</th><th scope="col" class="num">Expected</th><th scope="col" class="num">Quality</th><th scope="col">Source</th></tr></thead>
<tbody>${rows.map((row) => evidenceRow(row, most))}</tbody></table></div>`;
}

const evidenceRow = (row: Evidence, most: number): Html =>
  html`<tr><td class="num weight">${weightBar(row.weight_nats / most)}${nats(row.weight_nats)}</td><td>${row.text ?? row.fact}${row.text !== undefined && html` <code>${row.fact}</code>`}</td><td class="num">${reading(row.value)}</td><td class="num">${reading(row.expected)}</td><td class="num">${row.quality.toFixed(2)}</td><td>${row.source}</td></tr>`;

/** Rows under this weight hardly speak. */
const WEAK_NATS = 0.05;

/** To the right of the middle: speaks for the class; to the left: against it. */
const weightBar = (w: number): Html => {
  const width = Math.min(1, Math.abs(w)) * 20;
  return trusted(
    `<svg class="weightbar" viewBox="0 0 40 8" width="40" height="8" aria-hidden="true"><rect x="${(w < 0 ? 20 - width : 20).toFixed(1)}" width="${width.toFixed(1)}" height="8" class="${w < 0 ? "against" : "for"}"/><path d="M20 0v8"/></svg>`,
  );
};
