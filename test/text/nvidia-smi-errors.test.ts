import { expect, test } from "vitest";
import { classifySmiEnd, classifySmiLine, isSmiNoise } from "../../src/text/nvidia-smi-errors.js";
import { smiFixture } from "./nvidia-smi-fixtures.js";

const end = (stdout: string, exitCode: number | null, more: object = {}) =>
  classifySmiEnd({ stdout, stderr: "", exitCode, timedOut: false, notFound: false, ...more }).map((p) => [p.state, p.scope]);

test.each([
  ["messages/no-devices.txt", 6, "no_devices", "program"],
  ["messages/no-devices.txt", 0, "no_devices", "program"],
  ["messages/no-driver.txt", 9, "no_driver", "program"],
  ["messages/version-mismatch.txt", 18, "version_mismatch", "program"],
  ["messages/invalid-field.txt", 2, "invalid_field", "field"],
  ["messages/dmon-refused.txt", 3, "not_supported", "option"],
])("%s with status %d is %s", (file, exitCode, state, scope) => {
  expect(end(smiFixture(file), exitCode)).toEqual([[state, scope]]);
});

test("the text wins over the status", () => {
  expect(end("Failed to initialize NVML: Unknown Error", 9)).toEqual([["nvml_unknown_error", "program"]]);
});

test("the status speaks where the text does not", () => {
  expect(end("", 9)).toEqual([["no_driver", "program"]]);
  expect(end("rows", 14)).toEqual([["inforom_corrupt", "warning"]]);
  expect(end("rows", 15)).toEqual([["device_lost", "device"]]);
  expect(end("", 77)).toEqual([["failed", "program"]]);
  expect(end("", null)).toEqual([["failed", "program"]]);
  expect(end("", 0)).toEqual([]);
});

test("absent and hung programs", () => {
  expect(end("", null, { notFound: true })).toEqual([["not_found", "program"]]);
  expect(end("", null, { timedOut: true })).toEqual([["timeout", "program"]]);
});

test.each([
  ["Unable to determine the device handle for GPU0000:17:00.0: Unknown Error", "0000:17:00.0"],
  ["Unable to determine the device handle for GPU 0000:0B:00.0: Not Found", "0000:0B:00.0"],
  ["Unable to determine the device handle for GPU3: 0000:04:00.0: GPU is lost.  Reboot the system to recover this GPU", "0000:04:00.0"],
  ["Unable to determine the device handle for gpu 0000:04:00.0: Unknown Error", "0000:04:00.0"],
])("%s names the bus id", (line, busId) => {
  expect(classifySmiLine(line)).toMatchObject({ state: "device_lost", scope: "device", busId });
});

test("the refused field is named", () => {
  expect(classifySmiLine('Field "power.draw.instant" is not a valid field to query.')).toMatchObject({ field: "power.draw.instant" });
});

test("rows and second lines are no problems", () => {
  expect(classifySmiLine("0, GPU-1, 55 %")).toBeNull();
  expect(isSmiNoise("NVML library version: 535.161")).toBe(true);
  expect(isSmiNoise("0, GPU-1")).toBe(false);
});
