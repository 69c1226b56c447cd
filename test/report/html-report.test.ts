import { createHash } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { syntheticRun } from "../../bench/synthetic-run.js";
import { articleEpisodes, listedEpisodes, MAX_ARTICLES, MAX_LISTED } from "../../src/report/html/episodes-section.js";
import { htmlReport } from "../../src/report/html/html-report.js";
import type { PageAssets } from "../../src/report/html/page-assets.js";
import type { PageData } from "../../src/report/html/page-data.js";
import { unpack } from "../../src/report/html/payload-codec.js";
import { requestRows } from "../../src/report/html/request-rows.js";
import { sampleEpisode, sampleReport } from "./sample-report.js";

const ASSETS: PageAssets = { script: "run(1)", style: "body{color:red}", licence: "uPlot, MIT" };
const { requests, telemetry } = syntheticRun({ requests: 300, seconds: 120, gaps_per_request: 2, bursts: 1 });
const page = (report = sampleReport): string => htmlReport({ report, requests, telemetry }, ASSETS);

const dataOf = (html: string): PageData => {
  const text = /id="page-data">([^<]*)</.exec(html)![1]!;
  return unpack<PageData>(inflateRawSync(Buffer.from(text, "base64"))).data;
};

describe("HTML report", () => {
  it("is the same page for the same input, and reads in the agreed order", () => {
    const html = page();
    expect(page()).toBe(html);
    const order = [
      'id="verdict"',
      'class="classbar"',
      "What to do",
      'id="timeline"',
      'id="episodes"',
      'id="requests"',
      'id="latency"',
      'id="data"',
      'id="manifest"',
    ];
    const places = order.map((part) => html.indexOf(part));
    expect(places.every((p) => p > 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });
  it("allows its own script and style by digest, and no request at all", () => {
    const html = page();
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)![1]!.replaceAll("&#39;", "'");
    const digest = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src ${digest(ASSETS.script)}`,
      `style-src ${digest(ASSETS.style)}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(html).not.toMatch(/(src|href)="(?!#)/);
    expect(html).not.toMatch(/ style="| on[a-z]+="/);
    expect(html).toContain("uPlot, MIT");
  });
  it("says the evidence, the runner-up, the remedy and what is missing", () => {
    const html = page();
    for (const text of [
      "tensor_hi",
      "+1.60",
      "What would separate them: tensor_hi",
      "addresses 38 s",
      "request req-00042",
      "congestion",
      "too few",
    ])
      expect(html).toContain(text);
  });
  it("lists the largest episodes and counts the rest; the further ones travel as data", () => {
    const many = {
      ...sampleReport,
      episodes: Array.from({ length: MAX_LISTED + 40 }, (_, i) => ({ ...sampleEpisode, id: `e${i}`, excess_ms: 1000 + i })),
    };
    const listed = listedEpisodes(many);
    expect(listed.map((l) => l.number)).toEqual(Array.from({ length: MAX_LISTED }, (_, i) => i + 41));
    expect(articleEpisodes(listed)[0]!.number).toBe(MAX_LISTED + 40);
    const html = page(many);
    expect(html).toContain("40 smaller episodes not listed");
    expect(html.match(/<article /g)).toHaveLength(MAX_ARTICLES);
    const data = dataOf(html);
    expect(data.episodes).toHaveLength(MAX_LISTED);
    expect(data.further).toHaveLength(MAX_LISTED - MAX_ARTICLES);
  });
  it("a run without anything is still a page", () => {
    const none = syntheticRun({ requests: 0, seconds: 0, gaps_per_request: 0, bursts: 0 });
    const bare = { ...sampleReport, run: { id: "r", start: null, end: null, manifest: {} }, episodes: [], spikes: [] };
    const html = htmlReport({ report: bare, requests: none.requests, telemetry: { tracks: [], histograms: [], marks: [] } }, ASSETS);
    expect(html).toContain("No episode was found.");
    expect(dataOf(html)).toMatchObject({ lanes: [], episodes: [], marks: [], dots: { n: 0 }, table: { rows: [] } });
  });
});

describe("rows of the request table", () => {
  it("spikes keep their request, a twice used id the nearer one, and the slowest follow", () => {
    const id = requests.request_id[7]!;
    const twice = { ...requests, request_id: requests.request_id.with(200, id) };
    const start = new Date(requests.arrival_us[200]! / 1000).toISOString().replace("Z", "000Z");
    const spike = { ...sampleReport.spikes[0]!, request_id: id, start };
    const unknown = { ...spike, request_id: "gone", excess_ms: 1 };
    const rows = requestRows({ ...sampleReport, spikes: [unknown, spike] }, twice, ["compute"]);
    expect(rows.spike_row).toEqual([200, -1]);
    expect([rows.slow[7], rows.slow[200], rows.class_code[200]]).toEqual([0, 1, 1]);
    expect(rows.slow_rows).not.toContain(200);
    const e2e = rows.slow_rows.map((i) => requests.e2e_ms[i]!);
    expect(e2e).toEqual([...e2e].sort((a, b) => b - a));
  });
});
