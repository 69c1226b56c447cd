import fs from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) => fs.existsSync(file));

/** True where there is no browser and nothing demands one. */
export const WITHOUT_BROWSER = CHROMIUM === undefined && process.env.WHYSLOW_REQUIRE_ALL !== "1";
/** For titles: why tests are skipped. */
export const SKIP_REASON = WITHOUT_BROWSER ? " (skipped: no Chromium in /usr/bin)" : "";

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings of the console, uncaught errors, and every request but the page itself. */
  readonly complaints: string[];
}

/** Opens a report and waits until its script is done. */
export async function openPage(browser: Browser, file: string, options: { dark?: boolean; width?: number } = {}): Promise<OpenPage> {
  const page = await browser.newPage({
    viewport: { width: options.width ?? 1280, height: 800 },
    colorScheme: options.dark ? "dark" : "light",
  });
  const complaints: string[] = [];
  const url = pathToFileURL(file).href;
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && complaints.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("request", (request) => request.url() !== url && complaints.push(`request: ${request.url().slice(0, 100)}`));
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  return { page, complaints };
}

/** Serious and critical findings of axe-core, one line each. */
export async function seriousFindings(page: Page, axe: string): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(`axe.run().then(({ violations }) => violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 160)).slice(0, 3).join(" | ")))`);
}
