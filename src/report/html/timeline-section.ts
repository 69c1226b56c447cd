import type { Telemetry } from "../../../schemas/telemetry.js";
import { CLASS_TEXT } from "../wording.js";
import { CLASS_ORDER, classIcon } from "./class-mark.js";
import { type Html, html } from "./html-text.js";
import { clockText } from "./time-text.js";

const MAX_MARKS_LISTED = 100;

/** The frame that the page's script fills with lanes. Without script it says so; marks are listed in either case. */
export function timelineSection({ marks }: Telemetry): Html {
  return html`<section aria-labelledby="timeline">
<h2 id="timeline">Timeline</h2>
<noscript><p>The charts need a browser with JavaScript; everything else on this page reads without.</p></noscript>
<p id="page-error" class="warnings" role="alert" hidden></p>
<div id="lanes" role="group" aria-labelledby="timeline" aria-describedby="lane-keys" tabindex="0" hidden>
<div class="tools no-print"><span class="keys" aria-hidden="true">${CLASS_ORDER.map((c) => html`<span>${classIcon(c)}${CLASS_TEXT[c]}</span>`)}<span><i class="plain-dot"></i>not slow</span></span>
<span class="buttons"><button type="button" id="zoom-in" title="Zoom in (+)">Zoom in</button><button type="button" id="zoom-out" title="Zoom out (-)">Zoom out</button><button type="button" id="pan-left" aria-label="Earlier" title="Earlier (Shift + left arrow)">&#9664;</button><button type="button" id="pan-right" aria-label="Later" title="Later (Shift + right arrow)">&#9654;</button><button type="button" id="zoom-reset" title="Whole run (0)">Whole run</button></span></div>
<p id="lane-keys" class="dim no-print">Drag across a lane to zoom all of them; double-click for the whole run. Keys: arrows move the cursor, with Shift the view; + and - zoom, 0 shows all, n and p step through episodes.</p>
<div id="strip" class="strip" role="group" aria-label="Episodes and marks on the time axis"></div>
<div id="charts"></div>
<p id="cursor-says" class="visually-hidden" aria-live="polite"></p>
<p class="dim" id="band-note" hidden>Where a lane shows a band, it spans the lowest and the highest reading of each stretch; inside of episodes every reading is drawn.</p>
</div>
${
  marks.length > 0 &&
  html`<details id="mark-list"${marks.length <= 5 ? html` open` : null}><summary>Marks (${marks.length})</summary><ul class="marks">${marks
    .slice(0, MAX_MARKS_LISTED)
    .map(
      (m) =>
        html`<li><time>${clockText(m.ts_us)}</time> <code>${m.kind}</code> ${m.text}${m.node && html` <span class="dim">${m.node}</span>`}</li>`,
    )}${marks.length > MAX_MARKS_LISTED && html`<li>and ${marks.length - MAX_MARKS_LISTED} more</li>`}</ul></details>`
}
</section>`;
}
