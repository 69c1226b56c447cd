import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { htmlReport } from "../../src/report/html/html-report.js";
import { loadPageAssets } from "../../src/report/html/page-assets.js";
import { milliseconds, nats, reading } from "../../src/report/number-text.js";
import { temporaryFolder } from "../intake/run-import.js";
import { expectNumbers } from "./expect-numbers.js";
import { judgedRun } from "./judged-run.js";
import { launch, openPage, SKIP_REASON, WITHOUT_BROWSER } from "./open-page.js";

describe.skipIf(WITHOUT_BROWSER)(`driving a report${SKIP_REASON}`, { timeout: 120_000 }, () => {
  let browser: Browser;
  let scratch: ReturnType<typeof temporaryFolder>;
  const input = judgedRun();
  const { report } = input;
  let file: string;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    scratch = temporaryFolder();
    file = path.join(scratch.folder, "judged.html");
    fs.writeFileSync(file, htmlReport(input, loadPageAssets()));
    browser = await launch();
    ({ page, complaints } = await openPage(browser, file));
  });
  afterAll(async () => {
    await browser?.close();
    scratch?.remove();
  });

  const texts = (selector: string): Promise<string[]> =>
    page.locator(selector).evaluateAll((elements) => elements.map((e) => (e.textContent ?? "").replace(/\s+/g, " ").trim()));
  /** The stretches of time that the lanes show: one entry when all agree. */
  const views = async (): Promise<string[]> => [
    ...new Set(
      await page.locator(".uplot").evaluateAll((charts) => charts.map((c) => (c as unknown as { dataset: { view: string } }).dataset.view)),
    ),
  ];
  const seconds = async (): Promise<number> => {
    const shown = await views();
    expect(shown).toHaveLength(1);
    const [from, to] = shown[0]!.split(" ").map(Number);
    return to! - from!;
  };

  it("the numbers are those of the JSON report", async () => {
    expect(report.spikes.length).toBeGreaterThan(20);
    await expectNumbers(page, report);
  });

  it("a click on an episode brings its evidence", async () => {
    for (const number of [2, 1]) {
      await page.locator(`#strip button:has-text("${number}")`).first().click();
      const e = report.episodes[number - 1]!;
      const visible = page.locator("article.episode:visible");
      expect(await visible.getAttribute("id")).toBe(`episode-${number}`);
      expect(await page.evaluate("document.activeElement.id")).toBe(`episode-${number}-title`);
      const text = (await visible.textContent()) ?? "";
      expect(text).toContain(`${milliseconds(e.excess_ms)} of excess`);
      for (const row of e.evidence) {
        expect(text).toContain(nats(row.weight_nats));
        expect(text).toContain(reading(row.value));
      }
      expect(await page.locator("#episode-list tr[aria-current]").getAttribute("data-number")).toBe(String(number));
    }
    // A click into a lane, at the middle of another episode.
    const strip = (await page.locator("#strip button").nth(2).boundingBox())!;
    const over = page.locator('[data-lane="kv"] .u-over');
    await over.scrollIntoViewIfNeeded();
    const lane = (await over.boundingBox())!;
    await page.mouse.click(strip.x + strip.width / 2, lane.y + lane.height / 2);
    expect(await page.locator("article.episode:visible").getAttribute("id")).toBe("episode-3");
  });

  it("dragging over one lane zooms all; a double-click shows the whole run", async () => {
    const whole = await seconds();
    const over = page.locator('[data-lane="queue"] .u-over');
    await over.scrollIntoViewIfNeeded();
    const box = (await over.boundingBox())!;
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
    await page.mouse.up();
    await expect.poll(seconds).toBeCloseTo(whole / 4, 0);
    await over.dblclick();
    await expect.poll(seconds).toBeCloseTo(whole, 3);
    await page.locator("#zoom-in").click();
    await expect.poll(seconds).toBeCloseTo(whole / 2, 3);
    await page.locator("#zoom-reset").click();
    await expect.poll(seconds).toBeCloseTo(whole, 3);
  });

  it("the cursor stands at the same place in all lanes and says the readings", async () => {
    const over = page.locator('[data-lane="kv"] .u-over');
    await over.scrollIntoViewIfNeeded();
    const strip = (await page.locator("#strip button").nth(2).boundingBox())!;
    const lane = (await over.boundingBox())!;
    await page.mouse.move(strip.x + strip.width / 2, lane.y + lane.height / 2);
    const places = await page
      .locator(".u-cursor-x")
      .evaluateAll((lines) => lines.map((l) => (l as unknown as { style: { transform: string } }).style.transform));
    expect(places.length).toBeGreaterThan(8);
    expect(new Set(places).size).toBe(1);
    // The third burst: the KV cache is near 80 % in its middle, and at 30 % outside.
    const value = Number.parseFloat((await page.locator('[data-lane="kv"] .value').textContent())!);
    expect(value).toBeGreaterThan(60);
    expect(value).toBeLessThanOrEqual(80);
    expect(await page.locator("#strip .now").textContent()).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
  });

  it("a dot tells of its request", async () => {
    const over = page.locator('[data-lane="ttft"] .u-over');
    await over.scrollIntoViewIfNeeded();
    const box = (await over.boundingBox())!;
    const strip = (await page.locator("#strip button").nth(2).boundingBox())!;
    // Down through the third episode until the pointer meets a slow request.
    const tip = page.locator(".tip");
    for (let part = 0.02; part < 1 && !(await tip.isVisible()); part += 0.02)
      await page.mouse.move(strip.x + strip.width * 0.3, box.y + box.height * part);
    const text = (await tip.textContent()) ?? "";
    const id = report.spikes.map((s) => s.request_id).find((i) => text.includes(i));
    expect(id).toBeDefined();
    expect(text).toContain("Time to first token");
    expect(text).toContain("expected");
  });

  it("the table sorts and searches", async () => {
    const column = (n: number): Promise<string[]> => texts(`#request-table tbody tr > :nth-child(${n})`);
    await page.locator('th[data-key="request"] button').click();
    const ids = await column(1);
    expect(ids).toEqual([...ids].sort());
    expect(await page.locator('th[data-key="request"]').getAttribute("aria-sort")).toBe("ascending");
    await page.locator('th[data-key="request"] button').click();
    const back = await column(1);
    expect(back).toEqual([...back].sort().reverse());
    const wanted = report.spikes[0]!.request_id;
    await page.locator("#request-search").fill(wanted);
    expect(new Set(await column(1))).toEqual(new Set([wanted]));
    expect((await column(1)).length).toBe(report.spikes.filter((s) => s.request_id === wanted).length);
    await page.locator("#request-search").fill("#1");
    const first = report.episodes[0]!.id;
    const inFirst = report.spikes.filter((s) => s.episode === first).length;
    expect(await page.locator("#request-count").textContent()).toContain(`${inFirst} row`);
    await page.locator("#request-search").fill("no such request");
    expect(await column(1)).toEqual([]);
    await page.locator("#request-search").fill("");
    await page.locator("#request-class").selectOption("none");
    expect(new Set(await column(7))).toEqual(new Set(["no spike"]));
    await page.locator("#request-class").selectOption("");
    await page.locator("#page-next").click();
    expect(await page.locator("#page-says").textContent()).toContain("Page 2 of");
  });

  it("the theme button changes page and charts", async () => {
    const look = async (): Promise<unknown[]> => [
      await page.evaluate("getComputedStyle(document.body).backgroundColor"),
      await page.evaluate("document.querySelector('[data-lane=kv] canvas').toDataURL()"),
    ];
    await page.mouse.move(2, 2);
    const light = await look();
    await page.locator("#theme").click();
    await page.locator("#theme").click();
    expect(await page.locator("#theme").textContent()).toBe("Theme: dark");
    const dark = await look();
    expect(dark[0]).not.toEqual(light[0]);
    expect(dark[1]).not.toEqual(light[1]);
    await page.locator("#theme").click();
    expect((await look())[0]).toEqual(light[0]);
  });

  it("everything is reached and seen by keyboard alone", async () => {
    const fresh = await openPage(browser, file);
    const seen: string[] = [];
    for (let i = 0; i < 60; i++) {
      await fresh.page.keyboard.press("Tab");
      const at = (await fresh.page.evaluate(`(() => {
        const e = document.activeElement;
        const style = getComputedStyle(e);
        return { id: e.id, tag: e.tagName, name: e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.[0]?.textContent || e.title || (e.getAttribute("aria-labelledby") ?? ""), outline: style.outlineStyle, left: e.getBoundingClientRect().left };
      })()`)) as { id: string; tag: string; name: string; outline: string; left: number };
      if (at.tag === "BODY") break;
      expect(at.name, `a name for ${at.tag} ${at.id}`).not.toBe("");
      expect(at.outline, `an outline of ${at.tag} ${at.id} ${at.name.slice(0, 40)}`).not.toBe("none");
      expect(at.left).toBeGreaterThanOrEqual(0);
      seen.push(at.id || `${at.tag} ${at.name.slice(0, 30)}`);
    }
    for (const id of ["theme", "lanes", "zoom-in", "zoom-reset", "request-search", "request-class"]) expect(seen).toContain(id);
    expect(seen.indexOf("theme")).toBeLessThan(seen.indexOf("lanes"));
    expect(seen.indexOf("lanes")).toBeLessThan(seen.indexOf("request-search"));
    const view = (): Promise<string | null> => fresh.page.locator(".uplot").first().getAttribute("data-view");
    const whole = await view();
    await fresh.page.locator("#lanes").focus();
    await fresh.page.keyboard.press("+");
    await expect.poll(view).not.toBe(whole);
    await fresh.page.keyboard.press("0");
    await expect.poll(view).toBe(whole);
    await fresh.page.keyboard.press("ArrowRight");
    expect(await fresh.page.locator("#cursor-says").textContent()).toContain("KV cache in use");
    const chosen = (): Promise<string | null> => fresh.page.locator("#episode-list tr[aria-current]").getAttribute("data-number");
    const before = Number(await chosen());
    await fresh.page.keyboard.press("n");
    expect(Number(await chosen())).toBe((before % report.episodes.length) + 1);
    expect(fresh.complaints).toEqual([]);
    await fresh.page.close();
  });

  it("on paper all episodes stand and nothing is wider than the sheet", async () => {
    const paper = await openPage(browser, file, { dark: true, width: 700 });
    await paper.page.evaluate("dispatchEvent(new Event('beforeprint'))");
    await paper.page.emulateMedia({ media: "print" });
    expect(await paper.page.locator("article.episode:visible").count()).toBe(report.episodes.length);
    expect(await paper.page.locator("#request-tools").isVisible()).toBe(false);
    expect(await paper.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(700);
    expect(await paper.page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    await paper.page.close();
  });

  it("nothing complained", () => {
    expect(complaints).toEqual([]);
  });
});
