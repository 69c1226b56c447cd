import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitCsvLine } from "../../src/text/csv-line.js";

describe("a line of comma separated values", () => {
  it.each<[string, string[] | null]>([
    ["", [""]],
    ["a, b ,c", ["a", "b", "c"]],
    ['"a, b",c', ["a, b", "c"]],
    ['"say ""yes""",', ['say "yes"', ""]],
    ['""', [""]],
    ['"open', null],
    ['"a"b,c', null],
  ])("%s", (line, cells) => expect(splitCsvLine(line)).toEqual(cells));

  it("gives back every cell that was quoted by the rules", () => {
    const cell = fc.string().filter((text) => !/[\r\n]/.test(text));
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 6 }), (cells) => {
        expect(splitCsvLine(cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(","))).toEqual(cells);
      }),
    );
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (line) => Array.isArray(splitCsvLine(line)) || splitCsvLine(line) === null));
  });
});
