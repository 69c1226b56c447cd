import type { Report } from "../../../schemas/report.js";
import { count, milliseconds, percent, plural } from "../number-text.js";
import { type Html, html } from "./html-text.js";

/** Coverage under this is pointed out. */
const THIN = 0.9;

/** How good the data is: sources, clocks, refusals, warnings, what nothing could tell. */
export function dataSection(report: Report): Html {
  const { data } = report;
  return html`<section aria-labelledby="data">
<h2 id="data">Data quality</h2>
${data.warnings.length > 0 && html`<ul class="warnings">${data.warnings.map((w) => html`<li><code>${w.code}</code> ${w.text}</li>`)}</ul>`}
${
  data.sources.length === 0
    ? html`<p>No telemetry covers this range.</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="Sources"><table id="sources">
<thead><tr><th scope="col">Source</th><th scope="col">Of</th>${["Entities", "Samples", "Interval", "Window", "Lag", "Coverage", "Rejected"].map((h) => html`<th scope="col" class="num">${h}</th>`)}</tr></thead>
<tbody>${data.sources.map(
        (s) =>
          html`<tr><th scope="row">${s.source}</th><td>${s.entity_kind}</td><td class="num">${count(s.entities)}</td><td class="num">${count(s.samples)}</td><td class="num">${milliseconds(s.interval_ms)}</td><td class="num">${milliseconds(s.window_ms)}</td><td class="num">${milliseconds(s.lag_ms)}</td><td class="num">${s.coverage < THIN && html`<span class="thin">thin</span> `}${percent(s.coverage)}</td><td class="num">${count(s.rejected ?? 0)}</td></tr>`,
      )}</tbody></table></div>
<p class="dim">Coverage below 100% means gaps. A sample describes its window, which ends its lag before it was stamped. “-”: unknown.</p>`
}
<dl class="facts"><div><dt>Clock</dt><dd>${clock(report)}</dd></div>${(data.joined ?? 0) > 0 && html`<div><dt>Joined</dt><dd>${plural(data.joined!, "request")} seen by client and server</dd></div>`}</dl>
${data.missing.length > 0 && html`<details><summary>${plural(data.missing.length, "fact")} that no input could tell</summary><p class="names">${data.missing.map((m) => html`<code>${m}</code> `)}</p></details>`}
</section>`;
}

function clock({ data: { clock: c } }: Report): string {
  if (c.offset_ms === null) return `offset not measured (${c.method})`;
  const bound = c.uncertainty_ms === null ? "bound unknown" : `± ${c.uncertainty_ms.toFixed(1)} ms`;
  return `client moved by ${c.offset_ms.toFixed(1)} ms ${bound}, by ${c.method}`;
}

/** The frozen test object. */
export function manifestSection(report: Report): Html {
  const entries = Object.entries(report.run.manifest).sort(([a], [b]) => (a < b ? -1 : 1));
  return html`<section aria-labelledby="manifest">
<h2 id="manifest">Manifest</h2>
<dl class="facts manifest"><div><dt>run</dt><dd>${report.run.id}</dd></div>${report.run.start && html`<div><dt>start</dt><dd>${report.run.start}</dd></div>`}${report.run.end && html`<div><dt>end</dt><dd>${report.run.end}</dd></div>`}${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${entries.length === 0 && html`<p class="dim">Nothing is recorded about model, engine or GPUs of this run.</p>`}
</section>`;
}
