import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTime } from "../../src/time/civil-time.js";
import { formatDurationMs, parseDurationUs } from "../../src/time/duration.js";
import { formatIso, parseIso } from "../../src/time/iso-time.js";

const nowUs = Date.UTC(2026, 8, 3, 9, 30) * 1000;
const at = (text: string, zone = "Europe/Berlin"): string => formatIso(parseTime(text, { nowUs, zone }));

describe("iso time", () => {
  it("keeps microseconds both ways", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 4_102_444_800_000_000 }), (us) => parseIso(formatIso(us)) === us));
  });
  it("reads offsets and refuses days that do not exist", () => {
    expect(formatIso(parseIso("2026-09-03T11:07:55.5+02:00")!)).toBe("2026-09-03T09:07:55.500000Z");
    expect(parseIso("2026-02-30T00:00:00Z")).toBeNull();
    expect(parseIso("2026-09-03T09:07:55")).toBeNull();
  });
});

describe("times that people type", () => {
  it("reads local times in the zone, DST included", () => {
    expect(at("2026-09-03 11:07")).toBe("2026-09-03T09:07:00.000000Z");
    expect(at("2026-01-03T11:07:08")).toBe("2026-01-03T10:07:08.000000Z");
    expect(() => at("2026-03-29 02:30")).toThrow(/does not exist/);
  });
  it("takes a clock time as the latest one", () => {
    expect(at("11:20")).toBe("2026-09-03T09:20:00.000000Z");
    expect(at("23:00")).toBe("2026-09-02T21:00:00.000000Z");
  });
  it("reads now and Unix seconds, refuses the rest with a mend", () => {
    expect(at("now")).toBe("2026-09-03T09:30:00.000000Z");
    expect(at("1788436076.9")).toBe(formatIso(1_788_436_076_900_000));
    expect(() => at("yesterday-ish")).toThrow(/no time that whyslow reads/);
  });
});

describe("durations", () => {
  it("reads compound durations and demands a unit", () => {
    expect(parseDurationUs("1h30m")).toBe(5400e6);
    expect(parseDurationUs("250ms")).toBe(250_000);
    expect(parseDurationUs("30")).toBeNull();
    expect(parseDurationUs("-5m")).toBeNull();
    expect(parseDurationUs("0s")).toBeNull();
    expect(parseDurationUs("5m oops")).toBeNull();
  });
  it("prints them for people", () => {
    expect([3.04, 850, 1234, 12_400, 200_000, 7_500_000].map(formatDurationMs)).toEqual([
      "3 ms",
      "850 ms",
      "1.23 s",
      "12.4 s",
      "3 min 20 s",
      "2 h 5 min",
    ]);
  });
});
