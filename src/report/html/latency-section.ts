import { METRICS, type Report } from "../../../schemas/report.js";
import { count, milliseconds } from "../number-text.js";
import { METRIC_TEXT } from "../wording.js";
import { type Html, html } from "./html-text.js";

/** Percentiles; one that the number of requests cannot support is said to be so. */
export function latencySection(report: Report): Html {
  const rows = METRICS.map((metric) => ({ metric, p: report.summary[`${metric}_ms`] })).filter(({ p }) => p.n > 0);
  return html`<section aria-labelledby="latency">
<h2 id="latency">Latency</h2>
${
  rows.length === 0
    ? html`<p>No latency was recorded.</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="Percentiles"><table id="percentiles">
<thead><tr><th scope="col">Metric</th>${["p50", "p95", "p99", "mean", "max", "n"].map((h) => html`<th scope="col" class="num">${h}</th>`)}</tr></thead>
<tbody>${rows.map(
        ({ metric, p }) =>
          html`<tr data-metric="${metric}"><th scope="row">${METRIC_TEXT[metric]}</th>${percentile(p.p50)}${percentile(p.p95)}${percentile(p.p99)}<td class="num">${milliseconds(p.mean)}</td><td class="num">${milliseconds(p.max)}</td><td class="num">${count(p.n)}</td></tr>`,
      )}</tbody></table></div>
<p class="dim">“too few”: fewer observations than that percentile needs to mean anything.</p>`
}
</section>`;
}

const percentile = (ms: number | null): Html =>
  ms === null ? html`<td class="num few">too few</td>` : html`<td class="num">${milliseconds(ms)}</td>`;
