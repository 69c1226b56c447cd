import fc from "fast-check";
import { expect, test } from "vitest";
import { isDeviceFault, parseSmiCell, smiText } from "../../src/text/nvidia-smi-cell.js";

test.each([
  ["631.95 W", 631.95, "W"],
  ["100 %", 100, "%"],
  [" 40 % ", 40, "%"],
  ["1980", 1980, null],
  ["-3", -3, null],
  ["0 us", 0, "us"],
  ["14984231343 KiB", 14984231343, "KiB"],
  ["1066699 KB/s", 1066699, "KB/s"],
  ["16x", 16, "x"],
  ["0x0000000000000004", 4, null],
])("%j is the number %d in %j", (text, value, unit) => {
  expect(parseSmiCell(text)).toEqual({ kind: "number", value, unit });
});

test.each([
  ["[N/A]", "not_available"],
  ["N/A", "not_available"],
  ["-", "not_available"],
  ["\u2013", "not_available"],
  ["", "empty"],
  ["[Not Supported]", "not_supported"],
  ["[Unknown Error]", "unknown_error"],
  ["Unknown Error", "unknown_error"],
  ["[GPU requires reset]", "requires_reset"],
  ["[GPU is lost]", "gpu_lost"],
  ["[Insufficient Permissions]", "no_permission"],
  ["[Function Not Found]", "no_function"],
  ["[Requested functionality has been deprecated]", "deprecated"],
  ["Requested functionality has been deprecated", "deprecated"],
  ["[Not Found]", "not_found"],
  ["[Timeout]", "timeout"],
  ["ERR!", "unreadable"],
  ["[Something new]", "unreadable"],
  ["0xffffffffffffffff", "unreadable"],
])("%j is missing: %s", (text, reason) => {
  expect(parseSmiCell(text)).toEqual({ kind: "missing", reason });
  expect(smiText(text)).toBe(text.startsWith("0x") ? text : null);
});

test("only three reasons mean that the device is broken", () => {
  expect((["unknown_error", "requires_reset", "gpu_lost"] as const).every(isDeviceFault)).toBe(true);
  expect((["not_available", "empty", "no_permission", "deprecated"] as const).some(isDeviceFault)).toBe(false);
});

test("words are text, not numbers", () => {
  for (const word of ["P0", "Enabled", "1e3", "1,5", "590.48.01", "00000000:3B:00.0"]) expect(parseSmiCell(word).kind).toBe("text");
});

test("never throws, and a number is finite", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 30 }), (text) => {
      const cell = parseSmiCell(text);
      expect(cell.kind !== "number" || Number.isFinite(cell.value)).toBe(true);
    }),
  );
});
