import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CLASSES } from "../../schemas/report.js";
import { CLASS_ORDER, CLASS_SHAPE } from "../../src/report/html/class-mark.js";
import { escapeHtml, html, trusted, visible } from "../../src/report/html/html-text.js";
import { betweenMs, clockText, microseconds, spanText } from "../../src/report/html/time-text.js";

describe("html", () => {
  it("lets no string through unescaped, whatever it holds", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const made = html`<p title="${text}">${[text]}</p>`.toString();
        const inside = made.slice('<p title="'.length, -"</p>".length).replace('">', "");
        return !/[<>"'\p{Cc}\p{Cs}]/u.test(inside) && !/&(?!(amp|lt|gt|quot|#39);)/.test(inside);
      }),
    );
    expect(escapeHtml(`</script>"'&`)).toBe("&lt;/script&gt;&quot;&#39;&amp;");
  });
  it("shows what a reader could not see", () => {
    expect(visible("a\u0000b\u202ec\r\nd\te\ud800")).toBe("a\ufffdb\ufffdc d e\ufffd");
    expect(visible("naïve 模型 🙂")).toBe("naïve 模型 🙂");
  });
  it("joins lists, keeps markup, leaves out what is not there", () => {
    expect(html`<ul>${["a<", html`<li>`, trusted("<br>"), null, undefined, false, 0]}</ul>`.toString()).toBe("<ul>a&lt;<li><br>0</ul>");
  });
});

describe("parts", () => {
  it("every class has a place and a shape of its own", () => {
    expect(CLASS_ORDER).toEqual(CLASSES);
    expect(new Set(Object.values(CLASS_SHAPE)).size).toBe(CLASSES.length);
  });
  it("times are UTC, to the microsecond", () => {
    expect(microseconds("2026-09-03T09:07:56.903001Z")).toBe(1_788_426_476_903_001);
    expect(clockText("2026-09-03T09:07:56.903001Z")).toBe("09:07:56.903");
    expect(clockText(1_788_426_476_903_001, 0)).toBe("09:07:56");
    expect(betweenMs("2026-09-03T09:07:56.903000Z", "2026-09-03T09:07:57.000500Z")).toBeCloseTo(97.5, 9);
    expect(spanText("2026-09-03T23:59:00.000000Z", "2026-09-04T00:01:00.000000Z")).toBe("2026-09-03 23:59:00 to 2026-09-04 00:01:00 UTC");
  });
});
