import type { Report } from "../../../schemas/report.js";
import { count, milliseconds, percent, plural } from "../number-text.js";
import { excessByClass, remedies, slowRequests, verdictSentence } from "../verdict-sentence.js";
import { CLASS_TEXT } from "../wording.js";
import { classBar, classIcon } from "./class-mark.js";
import { type Html, html } from "./html-text.js";
import { spanText } from "./time-text.js";

const MAX_ADVICE = 5;

/** What was measured: run, time, model, engine, GPUs. */
export function headSection(report: Report): Html {
  const { run } = report;
  const m = run.manifest;
  const object = [
    m.model,
    m.engine && `${m.engine} ${m.engine_version ?? ""}`.trim(),
    m.gpu_model && `${m.gpu_count ? `${m.gpu_count}x ` : ""}${m.gpu_model}`,
  ].filter(Boolean);
  return html`<header class="top">
<div class="brand"><span class="logo" aria-hidden="true">?</span><span>whyslow</span></div>
<div class="what"><strong>${run.id.includes("/") ? "Time range" : run.id}</strong><span>${run.start && run.end ? spanText(run.start, run.end) : "no time range"}</span><span>${plural(report.data.requests, "request")}</span>${object.map((o) => html`<span>${o}</span>`)}</div>
<button type="button" id="theme" class="quiet" hidden>Theme: system</button>
</header>`;
}

/** The answer first: one sentence, the bar of excess time by class, what to do. */
export function verdictSection(report: Report): Html {
  const classes = excessByClass(report);
  const total = classes.reduce((sum, c) => sum + c.excess_ms, 0);
  const advice = remedies(report).slice(0, MAX_ADVICE);
  const spoken = classes.map((c) => `${CLASS_TEXT[c.class]} ${percent(share(c.excess_ms, total))}`).join(", ");
  return html`<section class="verdict" aria-labelledby="verdict">
<h1 id="verdict">${verdictSentence(report)}</h1>
${
  total > 0 &&
  html`<div class="excess">${classBar(
    classes.map((c) => ({ class: c.class, share: share(c.excess_ms, total) })),
    `Excess time by class: ${spoken}`,
  )}
<ul class="legend" id="classes">${classes.map(
    (c) =>
      html`<li>${classIcon(c.class)}<b>${CLASS_TEXT[c.class]}</b> <span>${percent(share(c.excess_ms, total))}</span> <span class="dim">${milliseconds(c.excess_ms)} in ${plural(c.episodes, "episode")}</span></li>`,
  )}</ul></div>`
}
${
  advice.length > 0 &&
  html`<h2 id="todo">What to do</h2>
<ol class="advice" aria-labelledby="todo">${advice.map(
    (r) =>
      html`<li>${classIcon(r.class)}<span>${r.text}</span> <span class="gain">addresses ${milliseconds(r.addresses_ms)}${total > 0 && html` <span class="dim">(${percent(Math.min(1, r.addresses_ms / total))} of the excess)</span>`}</span></li>`,
  )}</ol>`
}
<p class="dim figures">${count(report.summary.spikes.total)} spikes of ${plural(slowRequests(report), "request")}; a spike is one request's excess in one metric, an episode is spikes of one kind that belong together in time.</p>
</section>`;
}

const share = (part: number, total: number): number => (total > 0 ? part / total : 0);
