import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { buildPageData, type ReportInput } from "./build-page-data.js";
import { hatchings } from "./class-mark.js";
import { dataSection, manifestSection } from "./data-section.js";
import { articleEpisodes, episodesSection, listedEpisodes } from "./episodes-section.js";
import { html, trusted } from "./html-text.js";
import { latencySection } from "./latency-section.js";
import type { PageAssets } from "./page-assets.js";
import { requestsSection } from "./requests-section.js";
import { timelineSection } from "./timeline-section.js";
import { headSection, verdictSection } from "./verdict-section.js";

export type { ReportInput } from "./build-page-data.js";

/**
 * The report as one self-contained HTML page: no request leaves it (its content security policy allows none), every string of the data is
 * escaped, and it reads without script but for the charts. The same input gives the same page.
 */
export function htmlReport(input: ReportInput, assets: PageAssets): string {
  const { report, telemetry } = input;
  const listed = listedEpisodes(report);
  const articles = articleEpisodes(listed);
  const payload = deflateRawSync(buildPageData(input, listed, articles), { level: 9 }).toString("base64");
  const policy = [
    "default-src 'none'",
    `script-src '${digest(assets.script)}'`,
    `style-src '${digest(assets.style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `${html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>whyslow: ${report.run.id}</title>
<style>${trusted(assets.style)}</style>
</head>
<body>
<a class="skip" href="#verdict">To the verdict</a>
${hatchings()}
${headSection(report)}
<main>
${verdictSection(report)}
${timelineSection(telemetry)}
${episodesSection(report, listed, articles)}
${requestsSection(report)}
${latencySection(report)}
${dataSection(report)}
${manifestSection(report)}
</main>
<footer><p>Made by whyslow, report format ${report.schema}. Times are UTC. Nothing on this page loads from elsewhere.</p>
<details><summary>Licence of the charts</summary><pre>${assets.licence}</pre></details></footer>
<script type="text/plain" id="page-data">${trusted(payload)}</script>
<script>${trusted(assets.script)}</script>
</body>
</html>`}\n`;
}

const digest = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
