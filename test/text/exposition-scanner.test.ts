import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExpositionScanner, type ScanError, type ScanOptions, scanExposition } from "../../src/text/exposition-scanner.js";

interface Seen {
  readonly rows: { name: string; labels: Record<string, string>; value: number; ts: number }[];
  readonly errors: ScanError[];
  readonly types: [string, string][];
}

function read(text: string, options: ScanOptions & { truncated?: boolean } = {}) {
  const seen: Seen = { rows: [], errors: [], types: [] };
  const summary = scanExposition(
    text,
    {
      sample: (s, value, ts) => seen.rows.push({ name: s.name, labels: { ...s.labels }, value, ts }),
      type: (name, type) => seen.types.push([name, type]),
      error: (e) => seen.errors.push(e),
    },
    options,
  );
  return { ...seen, summary };
}

const values = (text: string): number[] => read(text).rows.map((r) => r.value);
const reasons = (text: string, options: ScanOptions = {}): string[] => read(text, options).errors.map((e) => e.reason);

describe("series text", () => {
  it("reads names without labels, blanks after commas, trailing commas and blanks around every token", () => {
    const { rows, errors } = read('up 1\na{b="1", c="2"} 2\nd{e="3",} 3\n  f { g = "4" , h="5" } 4 \ni{} 5\nj{k="6"}6\n');
    expect(errors).toEqual([]);
    expect(rows.map((r) => [r.name, r.labels, r.value])).toEqual([
      ["up", {}, 1],
      ["a", { b: "1", c: "2" }, 2],
      ["d", { e: "3" }, 3],
      ["f", { g: "4", h: "5" }, 4],
      ["i", {}, 5],
      ["j", { k: "6" }, 6],
    ]);
  });

  it("undoes the three escapes and leaves other backslashes as they stand", () => {
    expect(read('m{a="x \\"y\\" } , z",b="back\\\\slash",c="two\\nlines",d="C:\\dir"} 1\n').rows[0]!.labels).toEqual({
      a: 'x "y" } , z',
      b: "back\\slash",
      c: "two\nlines",
      d: "C:\\dir",
    });
  });

  it("reads quoted UTF-8 names of metrics and labels", () => {
    const { rows } = read('{"http.requests","host.name"="a",b="c"} 7\n{"größe"} 8\n');
    expect(rows).toEqual([
      { name: "http.requests", labels: { "host.name": "a", b: "c" }, value: 7, ts: Number.NaN },
      { name: "größe", labels: {}, value: 8, ts: Number.NaN },
    ]);
  });

  it("keeps braces, commas and hashes inside of quotes", () => {
    expect(read("m{method=\"{'method': 'prefill'}\",err=\"a, b } -- # c\"} 112.0\n").rows[0]!.labels).toEqual({
      method: "{'method': 'prefill'}",
      err: "a, b } -- # c",
    });
  });

  it("refuses only the line of an unescaped quote, an illegal label name, a doubled label or a missing value", () => {
    const text = 'a 1\nm{x="bad "quote"",y="1"} 2\nm{test-uuid="1"} 2\nm{x="1",x="2"} 2\nm{x="1"}\nm{x="1"\nm{...} 2\nb 3\n';
    const { rows, errors } = read(text);
    expect(rows.map((r) => r.name)).toEqual(["a", "b"]);
    expect(errors.map((e) => e.line)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(new Set(errors.map((e) => e.reason))).toEqual(new Set(["syntax"]));
  });

  it("does not let a label named __proto__ change anything", () => {
    const { rows } = read('m{__proto__="x"} 1\n');
    expect(Object.keys(rows[0]!.labels)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("values", () => {
  it("reads integers, fractions, exponents, signs, infinities and NaN", () => {
    expect(values("a 0.000001\nb -4\nc +2.5\nd 1.40737488355328e+14\ne +Inf\nf -Inf\ng NaN\nh 9223372036854775794\ni .5\nj 1.\n")).toEqual([
      0.000001,
      -4,
      2.5,
      140737488355328,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
      2 ** 63,
      0.5,
      1,
    ]);
  });

  it("refuses what only JavaScript takes for a number", () => {
    expect(reasons("a 0x1F\nb 1_000\nc ERROR - FAILED\nd 12abc\ne 1e\nf -\n")).toEqual(Array(6).fill("value"));
  });

  it("agrees with Number on every double as it prints it", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 0, max: 15 }), (x, digits) => {
        const forms = [String(x), x.toExponential(), Math.abs(x) < 1e21 ? x.toFixed(digits) : String(x)];
        expect(values(forms.map((f) => `m ${f}\n`).join(""))).toEqual(forms.map(Number));
      }),
    );
  });
});

describe("timestamps", () => {
  const ts = (text: string, timestamps?: "ms" | "s" | "auto"): number[] =>
    read(text, timestamps === undefined ? {} : { timestamps }).rows.map((r) => r.ts);

  it("reads OpenMetrics seconds without losing a microsecond", () => {
    expect(ts("m 1 1788404001.007\nm 1 1788404001.000001\nm 1 1788404001.9999994\nm 1 1788404001\n# EOF\n", "s")).toEqual([
      1788404001007000, 1788404001000001, 1788404001999999, 1788404001000000,
    ]);
  });

  it("reads text 0.0.4 milliseconds, also absurd ones", () => {
    expect(ts("m 1 1788404001007\nm 1 1712345678\nm 1 -5\n", "ms")).toEqual([1788404001007000, 1712345678000, -5000]);
  });

  it("tells seconds from milliseconds by size and fraction when nobody says", () => {
    expect(ts("m 1 1788404001\nm 1 1788404001007\nm 1 1788404001.5\nm 1 1.788404001007e+09\n")).toEqual([
      1788404001000000, 1788404001007000, 1788404001500000, 1788404001007000,
    ]);
  });

  it("refuses a timestamp that is none, and text behind it", () => {
    expect(reasons("m 1 soon\nm 1 1.2.3\nm 1 99999999999999999999\nm 1 5 6\n")).toEqual(["timestamp", "timestamp", "timestamp", "syntax"]);
  });

  it("is exact for every microsecond of 200 years", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6_000_000_000 }), fc.integer({ min: 0, max: 999_999 }), (s, us) => {
        expect(ts(`m 1 ${s}.${String(us).padStart(6, "0")}\n`)).toEqual([s * 1e6 + us]);
      }),
    );
  });
});

describe("pages", () => {
  it("skips comments and blank lines, hands on TYPE wherever it stands, and knows # EOF", () => {
    const { rows, types, summary, errors } = read("m 1\n\n# a comment\n# HELP m \\ text\n# TYPE m gauge\n#\r\nn 2\r\n# EOF\n");
    expect(rows.map((r) => r.value)).toEqual([1, 2]);
    expect(types).toEqual([["m", "gauge"]]);
    expect(errors).toEqual([]);
    expect(summary).toEqual({ lines: 8, samples: 2, errors: 0, eof: true, unterminated: false });
  });

  it("leaves exemplars aside, with braces of their own", () => {
    const text = 'h_bucket{le="0.5"} 3 # {trace_id="}x"} 0.43 1.7e9\nh_bucket{le="1"} 4 1788404001.5 # {} 0.9\nh_count 4 # {a="b"} 1\n';
    const { rows, errors } = read(text);
    expect(errors).toEqual([]);
    expect(rows.map((r) => [r.labels.le, r.value, r.ts])).toEqual([
      ["0.5", 3, Number.NaN],
      ["1", 4, 1788404001500000],
      [undefined, 4, Number.NaN],
    ]);
  });

  it("keeps the last line without a line feed and says so; drops it when the page is known to be cut", () => {
    expect(read("a 1\nb 12").rows.map((r) => r.value)).toEqual([1, 12]);
    expect(read("a 1\nb 12").summary.unterminated).toBe(true);
    const cut = read("a 1\nb 12", { truncated: true });
    expect(cut.rows.map((r) => r.value)).toEqual([1]);
    expect(cut.errors).toEqual([{ line: 2, reason: "truncated", text: "b 12" }]);
    expect(read("a 1\n", { truncated: true }).errors).toEqual([]);
  });

  it("refuses lines and series beyond the limits, and those alone", () => {
    const long = `m{a="${"x".repeat(200)}"} 1`;
    expect(read(`a 1\n${long}\nb 2\n`, { max_line_chars: 100 }).errors.map((e) => [e.line, e.reason, e.text.length])).toEqual([
      [2, "too_long", 100 + 20],
    ]);
    expect(reasons('m{a="1",b="2",c="3"} 1\nn 1\n', { max_labels: 2 })).toEqual(["too_many_labels"]);
    expect(read("a 1\nb 1\nc 1\na 2\n", { max_series: 2 }).rows.map((r) => r.name)).toEqual(["a", "b", "a"]);
  });

  it("does not hold an endless line in memory", () => {
    const scanner = new ExpositionScanner({ max_line_chars: 1000 });
    const seen: string[] = [];
    const visitor = { sample: (s: { name: string }) => seen.push(s.name), error: (e: ScanError) => seen.push(`${e.line} ${e.reason}`) };
    scanner.push("a 1\n", visitor);
    for (let i = 0; i < 50; i++) scanner.push("x".repeat(500), visitor);
    scanner.push(" 1\nb 2\n", visitor);
    expect(scanner.end(visitor).lines).toBe(3);
    expect(seen).toEqual(["a", "2 too_long", "b"]);
  });

  it("gives the same rows however the text is cut into pieces", () => {
    const text = '# TYPE a gauge\na{b="1 } \\" ,"} 1 1788404001.007\r\nbad line\n\nc 2 # {x="}"} 1\n{"d.e"} NaN\nlast 5';
    const whole = read(text);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 8 }), (cuts) => {
        const scanner = new ExpositionScanner();
        const rows: unknown[] = [];
        const errors: ScanError[] = [];
        const visitor = {
          sample: (s: { name: string; labels: object }, value: number, ts: number) =>
            rows.push({ name: s.name, labels: { ...s.labels }, value, ts }),
          error: (e: ScanError) => errors.push(e),
        };
        const points = [0, ...cuts.sort((a, b) => a - b), text.length];
        for (let i = 1; i < points.length; i++) scanner.push(text.slice(points[i - 1], points[i]), visitor);
        expect(scanner.end(visitor)).toEqual(whole.summary);
        expect(rows).toEqual(whole.rows);
        expect(errors).toEqual(whole.errors);
      }),
    );
  });

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("m", "{", "}", '"', "\\", ",", "=", " ", "\n", "#", "1", ".", "e", "-", "é", "# EOF")),
        (parts) => {
          const { summary, rows, errors } = read(parts.join(""));
          expect(summary.samples).toBe(rows.length);
          expect(summary.errors).toBe(errors.length);
        },
      ),
    );
  });
});

describe("remembered series", () => {
  it("gives one object for one series text, on every page and in any order", () => {
    const scanner = new ExpositionScanner();
    const ids: number[][] = [];
    for (const page of ['a{x="1"} 1\nb 2\nb{} 3\n', 'b 2\na{x="1"} 1\na{x="12"} 4\n', 'a{x="1"} 5 # {t="}"} 1\nb1 2\n']) {
      const seen: number[] = [];
      scanner.page(page, { sample: (s) => seen.push(s.id) });
      ids.push(seen);
    }
    expect(ids).toEqual([
      [0, 1, 2],
      [1, 0, 3],
      [0, 4],
    ]);
  });

  it("reads a page as a scanner would that saw no page before", () => {
    const line = fc.constantFrom(
      "a 1",
      "ab 1",
      "a{} 2",
      'a{b="1"} 3',
      'a{b="1"}4',
      'a{b="12"} 3 # {t="}"} 1',
      'ab{b="1"} 5 6',
      "a {",
      "b 1 2 3",
    );
    const page = fc.array(line, { maxLength: 12 }).map((lines) => `${lines.join("\n")}\n`);
    fc.assert(
      fc.property(fc.array(page, { maxLength: 4 }), (pages) => {
        const scanner = new ExpositionScanner();
        for (const text of pages) {
          const rows: unknown[] = [];
          scanner.page(text, { sample: (s, value, ts) => rows.push({ name: s.name, labels: { ...s.labels }, value, ts }) });
          expect(rows).toEqual(read(text).rows);
        }
      }),
    );
  });

  it("forgets when a page finds it half full, so that an agent's memory stays bounded", () => {
    const scanner = new ExpositionScanner({ max_series: 10 });
    let refused = 0;
    for (let page = 0; page < 20; page++) {
      const text = Array.from({ length: 6 }, (_, i) => `m{pod="${page}-${i}"} 1\n`).join("");
      scanner.page(text, { sample: () => undefined, error: () => refused++ });
    }
    expect(refused).toBe(0);
  });
});
