import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { zoneOffsetMinutes } from "../../src/time/civil-time.js";
import { createLocalClock } from "../../src/time/local-clock.js";

const at = (text: string): number => Date.parse(`${text}Z`) * 1000;
const iso = (us: number | null): string | null => (us === null ? null : new Date(us / 1000).toISOString().slice(0, 19));

describe("a log in local time", () => {
  it("is read in winter and summer", () => {
    const clock = createLocalClock("Europe/Berlin");
    expect([at("2026-01-15T12:00:00"), at("2026-07-15T12:00:00")].map((t) => iso(clock.toUtc(t)))).toEqual([
      "2026-01-15T11:00:00",
      "2026-07-15T10:00:00",
    ]);
  });

  it("takes the hour that is shown twice in the order of the rows, also where rows are a little out of order", () => {
    const clock = createLocalClock("Europe/Berlin");
    const rows = ["02:30:00", "02:30:02", "02:30:01", "02:59:59", "02:00:00", "02:30:00", "03:00:00"].map((t) => at(`2026-10-25T${t}`));
    expect(rows.map((t) => iso(clock.toUtc(t)))).toEqual([
      "2026-10-25T00:30:00",
      "2026-10-25T00:30:02",
      "2026-10-25T00:30:01",
      "2026-10-25T00:59:59",
      "2026-10-25T01:00:00",
      "2026-10-25T01:30:00",
      "2026-10-25T02:00:00",
    ]);
  });

  it("has no time that the clock skipped", () => {
    expect(createLocalClock("Europe/Berlin").toUtc(at("2026-03-29T02:30:00"))).toBeNull();
  });

  it("gives back any ascending series of instants, in zones of every kind", () => {
    const zones = [
      "UTC",
      "Europe/Berlin",
      "America/St_Johns",
      "Asia/Kathmandu",
      "Australia/Lord_Howe",
      "Pacific/Apia",
      "Africa/Casablanca",
    ];
    const near = (ms: number) => fc.integer({ min: ms - 8 * 3600e3, max: ms + 2 * 3600e3 });
    const start = fc.oneof(
      fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2029, 0, 1) }),
      near(Date.UTC(2026, 9, 25)),
      near(Date.UTC(2026, 10, 1, 4)),
    );
    const steps = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), start, steps, (zone, first, gaps) => {
        const clock = createLocalClock(zone);
        const offset = (us: number): number => zoneOffsetMinutes(us, zone)!;
        let utc = Math.floor(first / 1000) * 1e6;
        // A series that begins within the doubled hour cannot know which pass it is in.
        fc.pre(offset(utc - 2 * 3600e6) === offset(utc + 2 * 3600e6));
        for (const gap of gaps) {
          utc += gap * 1e6;
          expect(clock.toUtc(utc + offset(utc) * 60e6)).toBe(utc);
        }
      }),
      { numRuns: 100 },
    );
  });
});
