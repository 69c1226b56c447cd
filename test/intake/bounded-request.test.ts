import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boundedRequest } from "../../src/intake/bounded-request.js";
import { clientView } from "../../src/intake/importers/client-view.js";
import { RequestDays } from "../../src/intake/request-days.js";
import { importInto, temporaryFolder } from "./run-import.js";

const T0 = Date.UTC(2026, 8, 1) * 1000;
const DAY_US = 86_400_000_000;

let scratch: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  scratch = temporaryFolder();
});
afterEach(() => scratch.remove());

interface Row {
  ttft?: unknown;
  latency?: unknown;
  input?: unknown;
  gaps?: unknown;
  at_us?: number;
}

function aiperfLine({ ttft = 20, latency = 1000, input = 128, gaps = [10, 11], at_us = T0 }: Row, i: number): string {
  return JSON.stringify({
    metadata: { x_request_id: `r${i}`, request_start_ns: `${at_us}000`, benchmark_phase: "profiling" },
    metrics: {
      time_to_first_token: { value: ttft, unit: "ms" },
      request_latency: { value: latency, unit: "ms" },
      input_sequence_length: { value: input, unit: "tokens" },
      inter_chunk_latency: { value: gaps, unit: "ms" },
    },
    error: null,
  });
}

async function imported(rows: readonly Row[]) {
  const file = path.join(scratch.folder, "profile_export.jsonl");
  fs.writeFileSync(file, `${rows.map(aiperfLine).join("\n")}\n`);
  const { sink, outcome } = await importInto([file]);
  return { views: sink.views, refused: sink.refused, file: outcome.files[0]! };
}

describe("values that cannot be", () => {
  it.each<[string, Row, string, object]>([
    ["tokens", { input: 1e300 }, "range", { input_tokens: null, ttft_ms: 20, e2e_ms: 1000 }],
    ["tokens below nothing", { input: -1 }, "range", { input_tokens: null }],
    ["latency", { latency: 1e300 }, "range", { e2e_ms: null, end_us: null, ttft_ms: 20 }],
    ["negative latency", { latency: -5 }, "range", { e2e_ms: null, end_us: null }],
    ["first token", { ttft: 1.1e10 }, "range", { ttft_ms: null, first_token_us: null, e2e_ms: 1000 }],
    ["a gap", { gaps: [1, 1e300] }, "range", { gaps_ms: null, e2e_ms: 1000 }],
    ["a negative gap", { gaps: [-1, 1] }, "range", { gaps_ms: null }],
    ["NaN as text", { ttft: "NaN" }, "not_finite", { ttft_ms: null, first_token_us: null, e2e_ms: 1000 }],
    ["inf as text", { latency: "inf" }, "not_finite", { e2e_ms: null, end_us: null }],
    ["-Infinity as text", { input: "-Infinity" }, "not_finite", { input_tokens: null }],
    ["NaN among gaps", { gaps: ["nan", 2] }, "not_finite", { gaps_ms: null }],
  ])("%s: dropped and counted once, the row and its neighbours stay", async (_name, row, reason, expected) => {
    const { views, refused } = await imported([{}, row]);
    expect(refused).toEqual({ [reason]: 1 });
    expect(views).toHaveLength(2);
    expect(views[1]).toMatchObject(expected);
    expect(views[0]).toMatchObject({ input_tokens: 128, ttft_ms: 20, e2e_ms: 1000 });
  });

  it("the largest that can be stay", async () => {
    const { views, refused } = await imported([{ input: 1e8, latency: 1e10, ttft: 0, gaps: [0, 1e10] }]);
    expect(refused).toEqual({});
    expect(views[0]).toMatchObject({ input_tokens: 1e8, e2e_ms: 1e10, ttft_ms: 0 });
  });

  it("requests before 2015 or after 2100 are refused by their time", async () => {
    const { views, refused } = await imported([{ at_us: Date.UTC(2014, 11, 31) * 1000 }, {}, { at_us: Date.UTC(2015, 0, 1) * 1000 }]);
    expect(refused).toEqual({ timestamp: 1 });
    expect(views.map((v) => v.request_id)).toEqual(["r1", "r2"]);
    expect(boundedRequest(clientView({ request_id: "x", start_us: Date.UTC(2101, 0, 1) * 1000 }), () => undefined)).toBeNull();
    expect(boundedRequest(clientView({ request_id: "x", start_us: Number.NaN }), () => undefined)).toBeNull();
  });

  it("whatever is written, what is kept can be, and a sound request is kept as it is", () => {
    const number = fc.oneof(fc.constant(null), fc.double(), fc.double({ min: 0, max: 1e8, noNaN: true }));
    fc.assert(
      fc.property(number, number, number, (ttft_ms, e2e_ms, input_tokens) => {
        const view = clientView({ request_id: "x", start_us: T0, ttft_ms, e2e_ms, input_tokens });
        let faults = 0;
        const kept = boundedRequest(view, () => faults++)!;
        const sound = (v: number | null, most: number): boolean => v === null || (v >= 0 && v <= most);
        const bad = [sound(ttft_ms, 1e10), sound(e2e_ms, 1e10), sound(input_tokens, 1e8)].filter((ok) => !ok).length;
        expect(faults).toBe(bad);
        expect(sound(kept.ttft_ms, 1e10) && sound(kept.e2e_ms, 1e10) && sound(kept.input_tokens, 1e8)).toBe(true);
        if (bad === 0) expect(kept).toBe(view);
      }),
    );
  });
});

describe("requests that lie apart", () => {
  it("are told where the file spans more than a week with a hole of more than a day", async () => {
    const rows = Array.from({ length: 10 }, (_, i) => ({ at_us: T0 + i * 1e6 + (i % 5 === 0 ? -3650 * DAY_US : 0) }));
    const { file, views } = await imported(rows);
    expect(views).toHaveLength(10);
    expect(file.warnings).toEqual([expect.stringMatching(/^2 of 10 requests lie apart: most are from 2026-09-01 .* from 2016-09-03 /)]);
  });

  it("are not in a short file, nor in a long one without a hole", () => {
    const of = (...days: number[]): string | null => {
      const seen = new RequestDays();
      for (const day of days) seen.add(T0 + day * DAY_US);
      return seen.apart();
    };
    expect(of()).toBeNull();
    expect(of(0, 3, 6.9)).toBeNull();
    expect(of(...Array.from({ length: 40 }, (_, i) => i * 0.9))).toBeNull();
    expect(of(0, 0.1, 8)).toMatch(/^1 of 3 /);
    expect(of(8, 0.1, 0)).toMatch(/^1 of 3 /);
  });
});
