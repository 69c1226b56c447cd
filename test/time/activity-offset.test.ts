import { describe, expect, it } from "vitest";
import type { Telemetry } from "../../schemas/telemetry.js";
import { estimateActivityOffset, isOffsetBeyondDoubt } from "../../src/time/activity-offset.js";

const T0 = 1_788_000_000e6;

/** Bursty arrivals (deterministic), and the gauges of the server that served them, scraped every second. */
function scene(
  offsetUs: number,
  options: { flat?: boolean } = {},
): { client: { sent_us: Float64Array; end_us: Float64Array }; telemetry: Telemetry } {
  const sent: number[] = [];
  let state = 7;
  const random = (): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  for (let second = 0; second < 90; second++) {
    const rate = options.flat ? 5 : 2 + 6 * (second % 17 < 5 ? 1 : 0) + Math.floor(random() * 4);
    for (let i = 0; i < rate; i++) sent.push(T0 + second * 1e6 + (options.flat ? (i / rate) * 1e6 : random() * 1e6));
  }
  sent.sort((a, b) => a - b);
  const end = sent.map((s) => s + (options.flat ? 1e6 : 0.4e6 + random() * 2.5e6)).sort((a, b) => a - b);
  const ts = Float64Array.from({ length: 90 }, (_, i) => T0 + offsetUs + i * 1e6 + 300_000);
  const upTo = (xs: number[], t: number): number => xs.filter((x) => x <= t).length;
  const source = { name: "vllm", node: "n", imported: true, interval_ms: 1000, window_ms: null, lag_ms: null, rejected: {} };
  const columns = {
    running: ts.map((t) => upTo(sent, t - offsetUs) - upTo(end, t - offsetUs)),
    success_total: ts.map((t) => upTo(end, t - offsetUs)),
  };
  const track = {
    source,
    entity: { kind: "server" as const, node: "n", key: "vllm:a/0", labels: {} },
    ts_us: ts,
    epoch: new Int32Array(90),
    columns,
  };
  return {
    client: { sent_us: Float64Array.from(sent), end_us: Float64Array.from(end) },
    telemetry: { tracks: [track], histograms: [], marks: [] },
  };
}

describe("offset by activity", () => {
  it.each([-1_700_000, -240_000, 830_000, 4_000_000, 3_600_000_000])("is found to a few tens of ms: %d us", (offset) => {
    const { client, telemetry } = scene(offset);
    const found = estimateActivityOffset(client, telemetry)!;
    expect(Math.abs(found.offset_ms - offset / 1000)).toBeLessThan(150);
    expect(isOffsetBeyondDoubt(found)).toBe(true);
  });
  it("moves nothing when the clocks agree", () => {
    const { client, telemetry } = scene(0);
    expect(isOffsetBeyondDoubt(estimateActivityOffset(client, telemetry)!)).toBe(false);
  });
  it("refuses a flat load and a missing server", () => {
    const flat = scene(500_000, { flat: true });
    expect(estimateActivityOffset(flat.client, flat.telemetry)).toBeNull();
    expect(estimateActivityOffset(flat.client, { tracks: [], histograms: [], marks: [] })).toBeNull();
  });
});
