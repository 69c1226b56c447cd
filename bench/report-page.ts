/**
 * Size and opening time of the HTML report: node dist/bench/report-page.js [REQUESTS…] (default 1000 100000 1000000).
 * Needs Chromium (CHROMIUM, or /usr/bin/chromium). "open" is from navigation to the page being ready to use, the median of three.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { defaultDecisionTable } from "../schemas/decision-table.js";
import { diagnose } from "../src/diagnose/diagnose.js";
import { htmlReport } from "../src/report/html/html-report.js";
import { loadPageAssets } from "../src/report/html/page-assets.js";
import { syntheticRun } from "./synthetic-run.js";

const sizes = process.argv.slice(2).map(Number);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whyslow-page-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  process.stdout.write("requests   page kB   made in s   open s   spikes   episodes\n");
  for (const requests of sizes.length > 0 ? sizes : [1000, 100_000, 1_000_000]) {
    const seconds = Math.max(120, Math.min(86_400, Math.round(requests / 12)));
    const input = syntheticRun({ requests, seconds, gaps_per_request: requests > 200_000 ? 1 : 8, bursts: 5 });
    const report = diagnose(input, defaultDecisionTable());
    const started = performance.now();
    const page = htmlReport({ report, requests: input.requests, telemetry: input.telemetry }, loadPageAssets());
    const made = (performance.now() - started) / 1000;
    const file = path.join(folder, `${requests}.html`);
    fs.writeFileSync(file, page);
    const opened: number[] = [];
    for (let i = 0; i < 3; i++) opened.push(await openingTime(file));
    const cells = [
      String(requests).padStart(8),
      (page.length / 1000).toFixed(0).padStart(7),
      made.toFixed(2).padStart(9),
      opened
        .sort((a, b) => a - b)[1]!
        .toFixed(2)
        .padStart(6),
      String(report.spikes.length).padStart(6),
      String(report.episodes.length).padStart(8),
    ];
    process.stdout.write(`${cells.join("   ")}\n`);
  }
  const cpu = os.cpus();
  process.stdout.write(`${cpu.length} x ${cpu[0]?.model.trim()}, Node ${process.versions.node}, Chromium ${browser.version()}\n`);
} finally {
  await browser.close();
  if (process.env.KEEP) process.stdout.write(`pages kept in ${folder}\n`);
  else fs.rmSync(folder, { recursive: true, force: true });
}

async function openingTime(file: string): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("html[data-ready]");
    // Evaluated in the page: from the start of the navigation to the first paint after everything is drawn.
    return (
      (await page.evaluate<number>("new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))")) / 1000
    );
  } finally {
    await page.close();
  }
}
