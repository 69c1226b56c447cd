import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reportSchema } from "../../schemas/report.js";
import { markdownReport } from "../../src/report/markdown-report.js";
import { count, nats, percent, reading } from "../../src/report/number-text.js";
import { shorten, table, wrap } from "../../src/report/text-layout.js";
import { textReport } from "../../src/report/text-report.js";
import { verdictSentence } from "../../src/report/verdict-sentence.js";
import { sampleEpisode, sampleReport } from "./sample-report.js";

const quiet = { ...sampleReport, episodes: [], spikes: [] };

describe("text report", () => {
  it("is the golden one", async () => {
    expect(reportSchema.safeParse(sampleReport).success).toBe(true);
    await expect(textReport(sampleReport, { width: 100 })).toMatchFileSnapshot("../golden/report/sample.txt");
  });
  it("says the verdict before everything else and fits the width", () => {
    const many = {
      ...sampleReport,
      episodes: Array.from({ length: 30 }, (_, i) => ({ ...sampleEpisode, id: `e${i}`, excess_ms: 1000 * i })),
    };
    for (const width of [60, 80, 100, 140]) {
      const lines = textReport(many, { width }).split("\n");
      expect(lines.findIndex((l) => l.includes("slow request"))).toBeLessThan(lines.findIndex((l) => l.startsWith("EPISODES")));
      const tables = lines.findIndex((l) => l.startsWith("LATENCY"));
      expect(lines.slice(0, tables).filter((l) => l.length > width)).toEqual([]);
    }
    expect(textReport(many)).toContain("22 smaller episodes");
  });
  it("says that nothing was found without calling it an error", () => {
    expect(verdictSentence(quiet)).toBe("No latency spike in 1,767 requests. Over the whole run the limiting resource was compute (60%).");
    expect(textReport(quiet)).not.toContain("EPISODES");
  });
});

describe("markdown report", () => {
  it("has at most 15 lines and escapes what is not ours", async () => {
    const many = {
      ...sampleReport,
      run: { ...sampleReport.run, id: "a_b*c" },
      episodes: Array.from({ length: 30 }, (_, i) => ({ ...sampleEpisode, id: `e${i}` })),
    };
    const text = markdownReport(many);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
    expect(text).toContain("`a_b*c`");
    await expect(markdownReport(sampleReport)).toMatchFileSnapshot("../golden/report/sample.md");
  });
});

describe("layout", () => {
  it("wraps without losing a word", () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 90 }), (ws, width) => {
        const lines = wrap(ws.join(" "), width, "  ", "    ");
        return lines.join(" ").split(/\s+/).filter(Boolean).join(" ") === ws.join(" ") && lines.every((l) => l.length <= width);
      }),
    );
  });
  it("aligns numbers, shortens in the middle, prints readings", () => {
    expect(
      table(
        [
          ["a", "1"],
          ["bb", "22"],
        ],
        [1],
      ),
    ).toEqual(["a    1", "bb  22"]);
    expect(shorten("GPU-0123456789", 8)).toBe("GPU-…789");
    expect([0, 0.4512, 12.34, 1234, 2.5e9, 1e-6].map(reading)).toEqual(["0", "0.451", "12.3", "1234", "2.5G", "1.0e-6"]);
    expect([count(1234567), percent(0.004), percent(0.5), nats(-0.255)]).toEqual(["1,234,567", "<1%", "50%", "-0.26"]);
  });
});
