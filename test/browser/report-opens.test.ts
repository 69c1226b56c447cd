import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { syntheticRun } from "../../bench/synthetic-run.js";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { htmlReport } from "../../src/report/html/html-report.js";
import { loadPageAssets } from "../../src/report/html/page-assets.js";
import { FIXTURES, SHARED, temporaryFolder } from "../intake/run-import.js";
import { expectNumbers } from "./expect-numbers.js";
import { makeReport } from "./make-report.js";
import { launch, type OpenPage, openPage, SKIP_REASON, seriousFindings, WITHOUT_BROWSER } from "./open-page.js";

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const REAL = [
  path.join(SHARED, "samples/otlp/vllm-0.11.0-v1-collector-file-prefill.jsonl"),
  path.join(SHARED, "samples/benchmarks/guidellm-0.6.0.dev2-sweep-trimmed.json"),
];
const HAS_REAL = REAL.every((file) => fs.existsSync(file));
/** Some of these pages are large, and a browser beside other tests is slow. */
const PATIENCE_MS = 240_000;

describe.skipIf(WITHOUT_BROWSER)(`a report in a browser${SKIP_REASON}`, { timeout: PATIENCE_MS }, () => {
  let browser: Browser;
  let scratch: ReturnType<typeof temporaryFolder>;
  beforeAll(async () => {
    scratch = temporaryFolder();
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    scratch?.remove();
  });

  /** Nothing complains, nothing is asked of the network, and people who cannot see or use a mouse can read it: in light and in dark. */
  async function expectSound(file: string, look?: (opened: OpenPage) => Promise<void>, themes = [false, true]): Promise<void> {
    for (const dark of themes) {
      const opened = await openPage(browser, file, { dark });
      expect(await seriousFindings(opened.page, AXE)).toEqual([]);
      await look?.(opened);
      expect(opened.complaints).toEqual([]);
      await opened.page.close();
    }
  }

  function synthetic(requests: number, seconds: number, gaps_per_request: number, bursts: number): { file: string; html: string } {
    const input = syntheticRun({ requests, seconds, gaps_per_request, bursts });
    const report = diagnose(input, defaultDecisionTable());
    const html = htmlReport({ report, requests: input.requests, telemetry: input.telemetry }, loadPageAssets());
    const file = path.join(scratch.folder, `${requests}.html`);
    fs.writeFileSync(file, html);
    return { file, html };
  }

  it("of a labelled run", async () => {
    const { file, report } = await makeReport(scratch.folder, "communication", [path.join(FIXTURES, "lab/communication")]);
    expect(report.episodes.length).toBeGreaterThan(0);
    await expectSound(file, async ({ page }) => {
      await expectNumbers(page, report);
      expect(await page.locator("figure.lane").count()).toBeGreaterThan(8);
      expect(await page.locator("article.episode:visible").count()).toBe(1);
    });
  });

  it.skipIf(!HAS_REAL)(
    `of a real vLLM with GuideLLM${HAS_REAL ? "" : " (skipped: the samples are not beside the repository)"}`,
    async () => {
      const { file, report } = await makeReport(scratch.folder, "real", REAL);
      expect(report.data.requests).toBeGreaterThan(190);
      await expectSound(file, async ({ page }) => {
        expect(await page.locator("figure.lane canvas").count()).toBeGreaterThan(0);
      });
    },
  );

  it("of an empty run", async () => {
    const { file } = synthetic(0, 0, 0, 0);
    await expectSound(file, async ({ page }) => {
      expect(await page.locator("#page-error").textContent()).toContain("Nothing to draw");
      expect(await page.locator("h1").textContent()).toContain("nothing to judge");
    });
  });

  it("of 100,000 requests, in under 1.5 MB", async () => {
    const { file, html } = synthetic(100_000, 7200, 8, 3);
    expect(html.length).toBeLessThan(1_500_000);
    const rows = async ({ page }: OpenPage): Promise<void> => expect(await page.locator("#request-table tbody tr").count()).toBe(50);
    await expectSound(file, rows, [false]);
  });

  if (process.env.WHYSLOW_FULL === "1")
    it("of 1,000,000 requests", async () => {
      const { file, html } = synthetic(1_000_000, 86_400, 1, 5);
      expect(html.length).toBeLessThan(4_000_000);
      await expectSound(file, undefined, [false]);
    });

  it("shows hostile names as text and runs nothing of them", async () => {
    const input = syntheticRun({ requests: 400, seconds: 120, gaps_per_request: 2, bursts: 1 });
    const hostile = `</script><img src=x onerror="alert(1)">'"&\u0000\u202e<b>`;
    const ids = input.requests.request_id.map((id, i) => `${hostile}${i}${id}`);
    const tracks = input.telemetry.tracks.map((t) => ({
      ...t,
      source: { ...t.source, name: hostile },
      entity: { ...t.entity, node: hostile, labels: { ...t.entity.labels, pod: hostile, name: hostile } },
    }));
    const marks = [{ ...input.telemetry.marks[0]!, kind: hostile, text: hostile, node: hostile }];
    const requests = { ...input.requests, request_id: ids, servers: [{ service: hostile }] };
    const evil = {
      ...input,
      run: { ...input.run, id: hostile, manifest: { [hostile]: hostile } },
      requests,
      telemetry: { ...input.telemetry, tracks, marks },
    };
    const judged = diagnose(evil, defaultDecisionTable());
    const episodes = judged.episodes.map((e) => ({
      ...e,
      cause: hostile,
      server: hostile,
      evidence: e.evidence.map((row) => ({ ...row, source: hostile, text: hostile })),
      caused_by: [{ what: hostile, share: 1 }],
      remedy: { text: hostile, addresses_ms: 1 },
      missing: [hostile],
      measure_next: hostile,
    }));
    const report = { ...judged, episodes, data: { ...judged.data, warnings: [{ code: hostile, text: hostile }], missing: [hostile] } };
    expect(episodes.length).toBeGreaterThan(0);
    const file = path.join(scratch.folder, "hostile.html");
    fs.writeFileSync(file, htmlReport({ report, requests, telemetry: evil.telemetry }, loadPageAssets()));
    const { page, complaints } = await openPage(browser, file);
    page.on("dialog", (d) => {
      complaints.push(`dialog: ${d.message()}`);
      void d.dismiss();
    });
    await page.locator("#strip button").first().click();
    await page.locator(".u-over").first().hover();
    expect(await page.locator("img, b b, section script").count()).toBe(0);
    expect(await page.locator("#request-table tbody th").first().textContent()).toContain("</script><img src=x");
    expect(complaints).toEqual([]);
    await page.close();
  });
});
