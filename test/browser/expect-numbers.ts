import type { Page } from "playwright-core";
import { expect } from "vitest";
import { METRICS, type Report } from "../../schemas/report.js";
import { count, milliseconds, percent } from "../../src/report/number-text.js";
import { remedies, verdictSentence } from "../../src/report/verdict-sentence.js";
import { CLASS_TEXT, METRIC_TEXT } from "../../src/report/wording.js";

/** The cells of table rows as text. */
export const cells = (page: Page, rows: string): Promise<string[][]> =>
  page
    .locator(rows)
    .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((cell) => (cell.textContent ?? "").replace(/\s+/g, " ").trim())));

/** What the page shows in its tables is what the JSON report says. */
export async function expectNumbers(page: Page, report: Report): Promise<void> {
  expect(await page.locator("h1").textContent()).toBe(verdictSentence(report));
  const gains = await page.locator(".advice .gain").allTextContents();
  remedies(report)
    .slice(0, 5)
    .forEach((r, i) => expect(gains[i]).toContain(`addresses ${milliseconds(r.addresses_ms)}`));
  const few = (v: number | null): string => (v === null ? "too few" : milliseconds(v));
  expect(await cells(page, "#percentiles tbody tr")).toEqual(
    METRICS.map((m) => [m, report.summary[`${m}_ms`]] as const)
      .filter(([, p]) => p.n > 0)
      .map(([m, p]) => [METRIC_TEXT[m], few(p.p50), few(p.p95), few(p.p99), milliseconds(p.mean), milliseconds(p.max), count(p.n)]),
  );
  expect((await cells(page, "#episode-list tbody tr")).map((row) => row.toSpliced(2, 1))).toEqual(
    report.episodes.map((e, i) => [
      String(i + 1),
      e.start.slice(11, 23),
      METRIC_TEXT[e.metric],
      CLASS_TEXT[e.class],
      e.cause ?? "-",
      e.confidence === null ? "-" : percent(e.confidence),
      count(e.requests),
      milliseconds(e.excess_ms),
    ]),
  );
  const worst = [...report.spikes].sort((a, b) => b.excess_ms - a.excess_ms).slice(0, 50);
  const shown = (await cells(page, "#request-table tbody tr")).slice(0, worst.length);
  expect(shown.map((row) => [row[0], row[2]!.replace(" open", ""), ...row.slice(3, 6)])).toEqual(
    worst.map((s) => [
      s.request_id,
      METRIC_TEXT[s.metric],
      milliseconds(s.observed_ms),
      milliseconds(s.expected_ms),
      milliseconds(s.excess_ms),
    ]),
  );
  expect((await cells(page, "#sources tbody tr")).map((row) => row.slice(0, 4))).toEqual(
    report.data.sources.map((s) => [s.source, s.entity_kind, count(s.entities), count(s.samples)]),
  );
}
