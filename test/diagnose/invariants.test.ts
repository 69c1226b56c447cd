import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultDecisionTable } from "../../schemas/decision-table.js";
import type { DiagnosisInput, Track } from "../../schemas/index.js";
import { diagnose } from "../../src/diagnose/diagnose.js";
import { CLEAR, syntheticRun } from "./synthetic-run.js";

const table = defaultDecisionTable();
const classes = Object.keys(CLEAR);

const withTracks = (input: DiagnosisInput, tracks: readonly Track[]): DiagnosisInput => ({
  ...input,
  telemetry: { ...input.telemetry, tracks },
});
const mainOf = (input: DiagnosisInput) => [...diagnose(input, table).episodes].sort((a, b) => b.requests - a.requests)[0]!;

const hasBadNumber = (value: unknown): boolean => {
  if (typeof value === "number") return !Number.isFinite(value);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some(hasBadNumber);
};

describe("the report", () => {
  it("is byte-identical when made again, and when tracks come in another order", () => {
    for (const c of classes) {
      const first = JSON.stringify(diagnose(syntheticRun(CLEAR[c]!), table));
      expect(JSON.stringify(diagnose(syntheticRun(CLEAR[c]!), table)) === first, c).toBe(true);
      const input = syntheticRun(CLEAR[c]!);
      const turned = diagnose(withTracks(input, [...input.telemetry.tracks].reverse()), table);
      expect({ ...turned, data: { ...turned.data, sources: [] } }).toEqual({
        ...JSON.parse(first),
        data: { ...JSON.parse(first).data, sources: [] },
      });
    }
  });

  it("is the same for a source that is absent and one that never had a value", () => {
    for (const kind of ["gpu", "process", "server"]) {
      const input = syntheticRun(CLEAR.compute!);
      const absent = withTracks(
        input,
        input.telemetry.tracks.filter((t) => t.entity.kind !== kind),
      );
      const empty = withTracks(
        input,
        input.telemetry.tracks.map((t) =>
          t.entity.kind !== kind
            ? t
            : { ...t, columns: Object.fromEntries(Object.entries(t.columns).map(([n, v]) => [n, v.map(() => Number.NaN)])) },
        ),
      );
      const strip = (report: ReturnType<typeof diagnose>) => JSON.stringify({ ...report, data: { ...report.data, sources: [] } });
      expect(strip(diagnose(empty, table)) === strip(diagnose(absent, table)), kind).toBe(true);
    }
  });

  it("holds no NaN and no Infinity, whatever is missing, constant or broken", () => {
    const numbers = fc.constantFrom(Number.NaN, 0, 1, -5, 1e12);
    fc.assert(
      fc.property(
        fc.constantFrom(...classes),
        fc.array(fc.tuple(fc.nat(30), fc.nat(200), numbers), { maxLength: 40 }),
        fc.nat(3),
        (c, edits, mode) => {
          const input = syntheticRun({ ...CLEAR[c]!, seconds: mode === 0 ? 0.2 : 90 });
          const arrays = [
            input.requests.ttft_ms,
            input.requests.e2e_ms,
            input.requests.first_token_us,
            input.requests.end_us,
            input.requests.input_tokens,
            input.requests.output_tokens,
            ...input.telemetry.tracks.flatMap((t) => Object.values(t.columns)),
          ];
          for (const [a, i, v] of edits) {
            const column = arrays[a % arrays.length]!;
            if (mode === 2) column.fill(v);
            else if (column.length > 0) column[i % column.length] = v;
          }
          const report = diagnose(input, table);
          expect(hasBadNumber(report)).toBe(false);
        },
      ),
      { numRuns: 60, seed: 7 },
    );
  });

  it("survives nothing at all, one request, and identical requests", () => {
    const input = syntheticRun({ seconds: 0.01 });
    expect(diagnose(withTracks(input, []), table).episodes).toEqual([]);
    expect(hasBadNumber(diagnose(syntheticRun({ seconds: 0.2, rate: 5 }), table))).toBe(false);
    const same = syntheticRun({ seconds: 60, noise: 0 });
    same.requests.ttft_ms.fill(30);
    same.requests.e2e_ms.fill(900);
    expect(diagnose(same, table).episodes).toEqual([]);
  });
});

describe("taking information away", () => {
  it("a source that supports the answer, removed, never makes it surer", () => {
    const supports: Record<string, RegExp> = {
      compute: /tensor_active/,
      bandwidth: /dram_active/,
      kv_cache: /^server/,
      cpu_tokenization: /cfs_|psi_/,
      communication: /gr_engine|tensor|dram/,
    };
    for (const c of classes) {
      const whole = mainOf(syntheticRun(CLEAR[c]!));
      const less = mainOf(syntheticRun({ ...CLEAR[c]!, without: supports[c]! }));
      const confidence = less.class === whole.class ? less.confidence! : 0;
      expect(confidence, c).toBeLessThanOrEqual(whole.confidence! + 1e-9);
    }
  });

  it("coarser samples and an unsure clock never make an answer surer", () => {
    for (const c of classes) {
      let last = 1;
      for (const interval_s of [1, 5, 15, 30]) {
        const e = mainOf(syntheticRun({ ...CLEAR[c]!, interval_s }));
        const confidence = e.class === c ? e.confidence! : 0;
        expect(confidence, `${c} at ${interval_s} s`).toBeLessThanOrEqual(last + 0.02);
        last = confidence;
      }
      const sure = mainOf(syntheticRun(CLEAR[c]!));
      const input = syntheticRun(CLEAR[c]!);
      const unsure = mainOf({ ...input, clock: { ...input.clock, uncertainty_ms: 15_000 } });
      expect(unsure.class === c ? unsure.confidence! : 0, c).toBeLessThanOrEqual(sure.confidence! + 1e-9);
    }
  });
});
